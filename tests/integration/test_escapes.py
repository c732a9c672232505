"""Control characters in texts, labels and names never reach the terminal."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import assay
from assay.core.errors import AssayError
from assay.core.printable import one_line, printable, shortened

from .conftest import invoke

EVIL = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202egood\r\x7f"  # clear screen, window title, C1, reversed text, start of line
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
PLAN = """
name: "plan\\e[2J"
studies:
  "study\\e[2J": {kind: evaluate, models: "model\\e[2J", methods: [random], metrics: [sufficiency], data: own}
models: {"model\\e[2J": builtin}
data: {own: rows.jsonl}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    rows = [{"text": f"{EVIL} a film {i}", "label": f"{EVIL}{i % 2}", "id": f"{EVIL}{i}"} for i in range(4)]
    content = "".join(json.dumps(row) + "\n" for row in rows)
    for name in ("rows.jsonl", f"{EVIL}.jsonl"):
        (tmp_path / name).write_text(content)
    (tmp_path / "plan.yaml").write_text(PLAN)
    (tmp_path / f"{EVIL}.xz").write_bytes(b"")
    return tmp_path


def clean(*arguments: str) -> str:
    outcome = invoke(*arguments)
    assert not CONTROL.search(outcome.output), repr(outcome.output)
    return outcome.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["data", "show", f"{EVIL}.jsonl"], "a film"),
        (["data", "show", "rows.jsonl", "--columns", f"text={EVIL}"], "error"),
        (["data", "show", f"{EVIL}.csv"], "error"),
        (["data", "list", "."], "good"),
        (["explain", f"{EVIL} a film", "--method", "random"], "film"),
        (["explain", f"{EVIL} a film", "--method", "random", "--json"], "film"),
        (["explain", "a film", "--method", f"{EVIL}"], "error"),
        (["explain", "a film", "--target", f"{EVIL}"], "error"),
        (["explain", "--model", f"./{EVIL}", "a film"], "error"),
        (["explain", "--input", f"{EVIL}.csv", "--output", "x.jsonl"], "error"),
        (["explain", "--input", "rows.jsonl", "--output", f"{EVIL}out.jsonl", "--method", "random"], "wrote"),
        (["status", "plan.yaml"], "study"),
        (["status", f"{EVIL}.yaml"], "error"),
        (["run", "plan.yaml", "--dry-run"], "jobs would run"),
        (["run", "plan.yaml"], "plan"),
        (["run", "plan.yaml", "--only", f"study={EVIL}"], "error"),
        (["unpack", f"{EVIL}.xz"], "good"),
        ([f"{EVIL}"], "error"),
        (["explain", f"--{EVIL}"], "error"),
    ],
)
def test_no_command_prints_control_characters(folder: Path, arguments: list[str], words: str) -> None:
    assert words in clean(*arguments)


def test_what_python_prints() -> None:
    a = assay.explain("builtin", f"{EVIL} a film", "random")
    for shown in (str(a), repr(a), str(AssayError(f"no file {EVIL}"))):
        assert not CONTROL.search(shown)


def test_what_stays_and_what_goes() -> None:
    assert printable("tab\tline\nnaïve 👩‍👩‍👧 \u200fשלום") == "tab\tline\nnaïve 👩‍👩‍👧 \u200fשלום"
    assert printable(f"{EVIL}\ud83d") == "[2J]0;owned31mgood"
    assert one_line("a\nerror: b\t c") == "a error: b c"
    assert shortened("abcdef", 4) == "abc…"
    assert shortened("abcd", 4) == "abcd"
