"""Names stay inside the folder that the user named, and what is shared holds no folder of the user's machine."""

from __future__ import annotations

import base64
import json
import lzma
import shutil
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.core.files import write_file
from assay.core.names import safe_name, shareable
from assay.models.load import BUILTIN
from integration.conftest import invoke

PLAN = """
name: ../../escaped
data: {{"../../data": {{source: {data}, limit: 4}}, {data}: {{source: {data}, limit: 3}}}}
models:
  {model}: {{load: {model}}}
  ../../own:
    train: {model}
    on: ../../data
    recipe: recipe(epochs=1, batch_size=4)
studies:
  ../../study: {{kind: evaluate, methods: [random, gradient], metrics: [sufficiency]}}
  randomise: {{models: {model}, methods: [gradient], modes: [independent]}}
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of a user with a model and data, under a name that no output may show."""
    folder = tmp_path_factory.mktemp("secret_folder")
    shutil.copytree(BUILTIN, folder / "my model")
    rows = [{"text": e.text, "label": e.label} for e in list(assay.load_dataset("builtin"))[:8]]
    (folder / "reviews.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def leaks(folder: Path, secret: str) -> list[str]:
    return [str(path) for path in folder.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]


@pytest.mark.faults
def test_a_plan_with_hostile_names_writes_inside_its_folder_and_shows_no_paths(home: Path, tmp_path: Path) -> None:
    (home / "plan.yaml").write_text(PLAN.format(model=home / "my model", data=home / "reviews.jsonl"))
    deep = tmp_path / "a" / "b" / "c"
    deep.mkdir(parents=True)
    plan, store = str(home / "plan.yaml"), str(home / "store")
    ran = invoke("run", plan, "--store", store)
    assert ran.exit_code == 0, ran.output
    reported = invoke("report", plan, "--store", store, "--output", str(deep / "report"), "--figure-format", "svg")
    assert reported.exit_code == 0, reported.output
    outside = [p for p in tmp_path.rglob("*") if p.is_file() and not p.is_relative_to(deep / "report")]
    assert outside == []
    assert len(list((deep / "report").rglob("*.html"))) == 7
    assert leaks(deep, home.name) == []
    assert invoke("pack", plan, "--store", store, "--output", str(deep / "pack.xz")).exit_code == 0
    lines = [json.loads(line) for line in lzma.decompress((deep / "pack.xz").read_bytes()).decode().splitlines()]
    files = [
        base64.b64decode(text).decode(errors="replace") for line in lines for text in line.pop("files", {}).values()
    ]
    assert files
    assert home.name not in json.dumps(lines) + "".join(files)


@pytest.mark.faults
def test_pages_markdown_and_json_of_commands_show_no_paths(home: Path, tmp_path: Path) -> None:
    common = ["--model", str(home / "my model"), "--data", str(home / "reviews.jsonl"), "--limit", "2"]
    common += ["--store", str(home / "store2"), "--report", str(tmp_path / "page.html"), "--json", str(tmp_path / "j")]
    for command, more in (
        (
            "evaluate",
            ["--methods", "random,gradient", "--metrics", "sufficiency", "--markdown", str(tmp_path / "m.md")],
        ),
        ("randomise", ["--methods", "gradient", "--modes", "independent"]),
        ("attack", ["--methods", "gradient", "--steps", "2"]),
    ):
        done = invoke(command, *common, *more)
        assert done.exit_code == 0, done.output
        assert leaks(tmp_path, home.name) == []
        assert tmp_path.name not in (tmp_path / "page.html").read_text()
        assert "my model-" in (tmp_path / "j").read_text()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/home/me/models/bert-base", "bert-base-85bc81"),
        ("bert(embeddings='/data/glove.txt')", "bert(embeddings='glove-fa7e03.txt')"),
        ("cannot read /tmp/a/b.json: No such file", "cannot read b-4a309e.json: No such file"),
        ("--data '/home/me/my data/x.csv'", "--data 'x-06aca6.csv'"),
        *[
            (same, same)
            for same in ("owner/name", "and/or", "n/a", "1 / 2", "http://a.b/c/d", "<b>x</b>", "models/x", "/")
        ],
    ],
)
def test_only_the_last_part_of_a_path_is_shared(text: str, shown: str) -> None:
    assert shareable(text) == shown


def test_file_names_are_safe_and_different_names_stay_different() -> None:
    names = ["../../x", "..", ".", "", "a/b", "a_b", "a\x00b", "a\nb", "x" * 400, "x" * 401, "é" * 300, ".hidden", "-"]
    made = [safe_name(name) for name in names]
    assert len(set(made)) == len(names)
    for name in made:
        assert Path("folder", name).parent == Path("folder")
        assert not name.startswith(".")
        assert len(name.encode()) < 200
    assert [safe_name(name) for name in ("evaluate", "m(seed=1) on d", "日本")] == [
        "evaluate",
        "m(seed=1) on d",
        "日本",
    ]


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "page.html"
    write_file(path, "old")
    (tmp_path / "link").symlink_to(path)

    def broken(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", broken)
        with pytest.raises(assay.AssayError, match=r"cannot write .*page.html: No space left"):
            write_file(path, "new" * 1000)
    assert path.read_text() == "old"
    write_file(tmp_path / "link", "\ud800 new")
    assert path.read_text() == "\\ud800 new"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link", "page.html"]
