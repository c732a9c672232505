"""`assay roar` as a user meets it: a real process on files, its tables, its page and its JSON; part of a plan."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from integration.test_cli import run
from unit.experiments.test_roar import QUICK, write

pytestmark = pytest.mark.slow  # five processes, each of which reads torch and transformers

SIZES = {"train": 12, "dev": 6, "test": 6}
MODEL = ("--model-family", "bilstm_attention(hidden=4, width=4)", "--methods", "attention", "--recipe", QUICK)
PLACE = ("--seeds", "1", "--step", "50", "--score", "accuracy", "--store", "s", "--threads", "1")


@pytest.mark.parametrize(("form", "title"), [("--recursive", "Recursive ROAR"), ("--measurable", "Measurable model")])
def test_tables_page_and_json(tmp_path: Path, form: str, title: str) -> None:
    write(tmp_path / "d", SIZES)
    files = ("--report", "page.html", "--json", "found.json")
    done = run("roar", "--data", "d", *MODEL, *PLACE, form, *files, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"{title}, 1 seeds, 6 test examples" in done.stdout
    assert "attention" in done.stdout
    assert title in (tmp_path / "page.html").read_text()
    (found,) = json.loads((tmp_path / "found.json").read_text())
    assert (found["form"], found["ratios"]) == (title, [0, 0.5, 1])
    assert len(found["methods"]["attention"]["curve"]) == 3
    assert bool(found["outside"]) == (form == "--measurable")


def test_what_cannot_be_is_a_sentence(tmp_path: Path) -> None:
    write(tmp_path / "d", SIZES)
    done = run("roar", "--data", "d", *MODEL, *PLACE, "--measurable", "--count", cwd=tmp_path)
    assert done.returncode == 2
    assert "leave --count and --last out" in done.stderr
    done = run("run", "plan.yaml", "--only", "seed", cwd=tmp_path)
    assert done.returncode == 2
    assert "write name=value" in done.stderr
