"""`assay roar` as a user meets it: a real process on files, its tables, its page and its JSON; part of a plan."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest

from integration.test_cli import ASSAY, run
from unit.studies.test_roar import QUICK, write

pytestmark = pytest.mark.slow  # five processes, each of which reads torch and transformers

SIZES = {"train": 12, "dev": 6, "test": 6}
MODEL = ("--base", "bilstm_attention(hidden=4, width=4)", "--methods", "attention", "--recipe", QUICK)
PLACE = ("--seeds", "1", "--step", "50", "--score", "accuracy", "--store", "s", "--threads", "1")


@pytest.mark.parametrize(("form", "title"), [("recursive", "Recursive ROAR"), ("measurable", "Measurable model")])
def test_tables_page_and_json(tmp_path: Path, form: str, title: str) -> None:
    write(tmp_path / "d", SIZES)
    files = ("--report", "page.html", "--json", "found.json")
    done = run("roar", "--data", "d", *MODEL, *PLACE, "--forms", form, *files, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"{title}, 1 seed, 6 test examples" in done.stdout
    assert "attention" in done.stdout
    assert title in (tmp_path / "page.html").read_text()
    (found,) = json.loads((tmp_path / "found.json").read_text(), parse_constant=pytest.fail)  # NaN is no JSON
    assert (found["form"], found["ratios"]) == (title, [0, 0.5, 1])
    assert len(found["methods"]["attention"]["curve"]) == 3
    assert found["methods"]["attention"]["t"]["low"] is None  # of one seed
    assert (found["score"], found["target"], len(found["random"][0])) == ("accuracy", "gold", 3)
    assert bool(found["outside"]) == (form == "measurable") == ("MaSF" in done.stdout)


def test_killed_in_a_training_it_goes_on_and_ends_the_same(tmp_path: Path) -> None:
    """Nothing finished is run again: the records that stood at the kill stay as they are, file by file."""
    write(tmp_path / "d", {"train": 600, "dev": 60, "test": 60})
    command = ("roar", "--data", "d", *MODEL, "--seeds", "1", "--step", "50", "--threads", "1", "--store")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    victim = subprocess.Popen([*ASSAY, *command, "killed"], cwd=tmp_path, **quiet)
    deadline = time.time() + 600
    while time.time() < deadline and len(records(tmp_path / "killed")) < 4 and victim.poll() is None:
        time.sleep(0.02)
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    kept = records(tmp_path / "killed")
    for store in ("killed", "whole"):
        assert run(*command, store, "--json", f"{store}.json", cwd=tmp_path).returncode == 0
    after = records(tmp_path / "killed")
    assert 4 <= len(kept) < len(after), "the kill must come in the middle"
    assert {name: after[name] for name in kept} == kept
    found, whole = (json.loads((tmp_path / f"{store}.json").read_text()) for store in ("killed", "whole"))
    assert found[0]["methods"]["attention"]["curve"] == whole[0]["methods"]["attention"]["curve"]


def test_interrupted_it_says_how_to_go_on(tmp_path: Path) -> None:
    write(tmp_path / "d", {"train": 600, "dev": 60, "test": 60})
    command = [*ASSAY, "roar", "--data", "d", *MODEL, "--seeds", "1", "--step", "20", "--threads", "1", "--store", "s"]
    running = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    deadline = time.time() + 600
    while time.time() < deadline and not records(tmp_path / "s") and running.poll() is None:
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate()
    assert running.returncode == 130
    assert "rerun the same command to resume" in said


def test_a_dry_run_names_what_the_run_would_do(tmp_path: Path) -> None:
    """A measurable model needs no model that was trained without masks."""
    write(tmp_path / "d", SIZES)
    done = run("roar", "--data", "d", *MODEL, *PLACE, "--forms", "measurable", "--dry-run", cwd=tmp_path)
    jobs = [line.split()[1] for line in done.stdout.splitlines()[:-1]]
    assert jobs == ["measurable"] * 3, done.stdout  # a training, random and attention
    assert run("roar", "--data", "d", *MODEL, *PLACE, "--forms", "measurable", cwd=tmp_path).returncode == 0
    assert (
        "0 of 3 jobs would run"
        in run("roar", "--data", "d", *MODEL, *PLACE, "--forms", "measurable", "--dry-run", cwd=tmp_path).stdout
    )


def records(store: Path) -> dict[str, tuple[int, int]]:
    """Finished records by key; one written anew would be another file."""
    found = (path for path in store.rglob("*.json") if len(path.stem) == 64)
    return {path.stem: (path.stat().st_ino, path.stat().st_mtime_ns) for path in found}


def test_what_cannot_be_is_a_sentence(tmp_path: Path) -> None:
    write(tmp_path / "d", SIZES)
    done = run("roar", "--data", "d", *MODEL, *PLACE, "--forms", "measurable", "--by", "count", cwd=tmp_path)
    assert done.returncode == 2
    assert "leave out by=count and last" in done.stderr
    (tmp_path / "empty").mkdir()
    done = run("roar", "--data", "d", "--base", "empty", *PLACE, cwd=tmp_path)
    assert done.returncode == 2
    assert "the folder empty holds no model" in done.stderr
    done = run("roar", "--data", "d", *MODEL, *PLACE[:-1], "-1", cwd=tmp_path)
    assert done.returncode == 2
    assert "--threads" in done.stderr
    done = run("run", "plan.yaml", "--only", "seed", cwd=tmp_path)
    assert done.returncode == 2
    assert "write name=value" in done.stderr


def test_only_may_be_repeated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Every tag and every value counts, not the last one alone."""
    from assay.cli.main import app

    asked = []
    monkeypatch.setattr("assay.status", lambda plan, **options: asked.append(options["only"]))
    monkeypatch.setattr("assay.cli.run.print_missing", lambda *_: None)
    app(["run", "plan.yaml", "--only", "study=a,b", "--only", "seed=0", "--dry-run"])
    app(["run", "plan.yaml", "--only", "study=a", "--only", "study=b,c", "--dry-run"])
    app(["run", "plan.yaml", "--dry-run"])
    assert asked == [{"study": "a,b", "seed": "0"}, {"study": "a,b,c"}, None]
