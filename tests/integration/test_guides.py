"""The guides run as they stand: their files as plugins, their Python, and their command lines."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path

import pytest

import assay

from .conftest import invoke

GUIDES = Path(__file__).parents[2] / "docs" / "guides"
MINE = ("method", "metric", "removal", "dataset", "study")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


def blocks(guide: str, language: str) -> list[str]:
    """The blocks of a guide in a language; commands have none."""
    text = (GUIDES / f"{guide}.md").read_text(encoding="utf-8")
    return [
        body for name, body in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE) if name == language
    ]


def write_files(guide: str, folder: Path) -> None:
    """The blocks that begin with the name of a file."""
    for block in blocks(guide, "python") + blocks(guide, "yaml"):
        if name := re.match(r"# (\w+\.(?:py|yaml))\n", block):
            (folder / name[1]).write_text(block)


@pytest.mark.parametrize("guide", MINE)
def test_a_guide_runs(guide: str, folder: Path, own_code: None) -> None:
    write_files(guide, folder)
    for block in blocks(guide, "python"):
        if not block.startswith("# "):
            exec(block, {"assay": assay})
    commands = [shlex.split(line) for block in blocks(guide, "") for line in block.splitlines()]
    assert len(commands) >= 2
    for _, *arguments in commands:
        done = invoke(*arguments)
        assert done.exit_code == 0, (arguments, done.output)
        if arguments[0] == "list":
            name = next(p.stem for p in folder.glob("my_*.py"))
            assert sys.modules[f"assay_plugin_{name}"].__file__ == str(folder / f"{name}.py")


def test_the_guide_of_scores(folder: Path) -> None:
    first, *_ = blocks("scores", "python")
    exec(first, namespace := {})
    assert "human" in namespace["result"].evaluation.methods
    (lines,) = [block for block in blocks("scores", "") if block.startswith("{")]
    (folder / "file.jsonl").write_text(lines)
    assert len(assay.Attributions.from_file("file.jsonl")) == 2


@pytest.mark.slow  # SHAP compiles its own code on the first call
def test_shap_step_by_step(folder: Path) -> None:
    _, code = blocks("scores", "python")
    exec(code, namespace := {})
    rows = {row["method"]: row["value"] for row in namespace["result"].table() if row["metric"] == "comprehensiveness"}
    assert rows["shap"] > rows["random"]
    assert namespace["result"].evaluation.agreement["shap ~ kernel_shap"].mean() > 0.5


def test_the_guide_of_notebooks_runs(folder: Path) -> None:
    import matplotlib
    import matplotlib.pyplot as plt

    matplotlib.use("Agg")
    namespace: dict[str, object] = {}
    for block in blocks("notebook", "python"):
        exec(block, namespace)
    plt.close("all")
    assert len(blocks("notebook", "python")) == 3


@pytest.mark.slow  # two fits and two evaluations
def test_the_guide_of_explainers(folder: Path) -> None:
    data = assay.load_dataset("builtin")
    (folder / "reviews").mkdir()
    for split in ("train", "dev", "test"):
        lines = [json.dumps({"text": f"{e.text} {split}", "label": e.label}) for e in data]
        (folder / "reviews" / f"{split}.jsonl").write_text("\n".join(lines))
    commands = [shlex.split(line) for block in blocks("explainer", "") for line in block.splitlines()]
    commands = [command for command in commands if "SMOLLM" not in command]  # a language model, which tests lack
    assert [command[1] for command in commands] == ["fit", "explain", "evaluate"]
    for _, *arguments in commands:
        done = invoke(*arguments)
        assert done.exit_code == 0, (arguments, done.output)
    for block in blocks("explainer", "python"):
        exec(block, {"assay": assay})
    card = (folder / "saved" / "README.md").read_text()
    assert "30 of reviews/train" in card
