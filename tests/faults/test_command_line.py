"""Commands end with one sentence, whatever happens: also where no code expected it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import assay
from integration.conftest import Refused, invoke, refused  # noqa: F401  a fixture


def test_an_error_of_assay_itself_is_a_sentence_and_a_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError("division\nby zero")

    monkeypatch.setattr(assay, "explain", broken)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    done = invoke("explain", "a film", "--model", "builtin")
    assert done.exit_code == 70
    found = re.fullmatch(
        r"error: Assay failed unexpectedly \(ZeroDivisionError: division\)\. Please report it with the log (\S+)\.\n",
        done.stderr,
    )
    assert found, done.stderr
    log = Path(found[1]).read_text()
    assert "Traceback" in log
    assert "assay explain 'a film' --model builtin" in log


def test_a_full_disk_behind_the_output_is_a_sentence(tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "NO_COLOR": "1"}
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "assay", "list", "studies"], stdout=full, stderr=subprocess.PIPE, text=True, env=env
        )
    assert done.returncode == 2
    assert done.stderr == "error: cannot write the output: no space left on the device.\n"


TRAIN = ["train", "--base", "builtin", "--data", "builtin", "--output", "m"]
PLAN = "data: [builtin]\nmodels: [builtin]\nstudies: {evaluate: {methods: [random], metrics: [sufficiency]}}\n"
LAUGHS = "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}' if i else 'x'] * 10)}]\n" for i in range(10))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (PLAN.encode() + b"# \xff", "is not UTF-8 text (byte 101); save it as UTF-8"),
        (PLAN.encode("utf-16"), "is not UTF-8 text"),
        (b"data: " + b"[" * 3000, "is nested too deeply"),
        (LAUGHS.encode(), "more than 200,000 entries; are aliases (*name) used too often?"),
        (b"a: &a [*a]", "aliases"),
        (b"data: {[]: 1}", "is not valid YAML"),
        (PLAN.replace("random", "lime(samples=1000000000000)").encode(), "too large; give at most 10,000,000"),
        (PLAN.replace("random", "'random('").encode(), "cannot read 'random('"),
        (b"#" * 2**23, "is larger than 4 MB"),
    ],
    ids=range(9),
)
def test_plans_that_are_none(content: bytes, words: str, tmp_path: Path, refused: Refused) -> None:  # noqa: F811
    (tmp_path / "plan.yaml").write_bytes(content)
    assert words in refused("status", "plan.yaml", "--store", "s", cwd=tmp_path)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["explain", "a", "--method", ""], "no method is named"),
        (["explain", "a", "--method", ","], "no method is named"),
        (["explain", "a", "--method", "lime(samples=1000000000000)"], "samples=1e+12 is too large"),
        (["explain", "a", "--html", "/dev/full"], "cannot write /dev/full: No space left on device"),
        (["attack", "--epsilon", "inf"], "epsilon=inf"),
        (["attack", "--share", "2"], "share"),
        (
            [*TRAIN, "--save-seconds", "-1"],
            "save_seconds=-1",
        ),
        (
            [*TRAIN, "--learning-rate", "nan"],
            "learning_rate",
        ),
        (["report", "plan.yaml", "--output", "/dev/null/x"], "cannot write /dev/null/x"),
        (["pack", "plan.yaml", "--output", "/dev/null/x"], "cannot write"),
        (["unpack", "plan.yaml"], "Give a file written by `assay pack`"),
    ],
    ids=str,
)
def test_values_that_cannot_be(arguments: list[str], words: str, tmp_path: Path, refused: Refused) -> None:  # noqa: F811
    (tmp_path / "plan.yaml").write_text(PLAN)
    assert words in refused(*arguments, cwd=tmp_path)
