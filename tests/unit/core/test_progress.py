"""Progress is a bar on a terminal and a line now and then elsewhere."""

from __future__ import annotations

import io
import sys

import pytest

from assay.core import progress
from assay.core.progress import Lines, Progress, clock


class Watched(io.StringIO):
    def isatty(self) -> bool:
        return True


def stderr_of(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, show: bool | None, total: int | None) -> str:
    monkeypatch.setattr(sys, "stderr", stream)
    with Progress("explaining \x1b[2Jx", total, show) as bar:
        bar.advance(3)
        bar.advance(1)
    return stream.getvalue()


@pytest.mark.parametrize("show", [None, True])
def test_lines_where_no_terminal_watches(monkeypatch: pytest.MonkeyPatch, show: bool | None) -> None:
    monkeypatch.setattr(progress, "INTERVAL", 0.0)
    lines = stderr_of(monkeypatch, io.StringIO(), show, 4).splitlines()
    assert lines[0].startswith("explaining [2Jx: 3 of 4 done in 0:00:00, about ")
    assert lines[1] == "explaining [2Jx: 4 of 4 done in 0:00:00, about 0:00:00 to go"


def test_quick_work_and_hidden_progress_print_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert stderr_of(monkeypatch, io.StringIO(), None, 100) == ""
    monkeypatch.setattr(progress, "INTERVAL", 0.0)
    assert stderr_of(monkeypatch, io.StringIO(), False, 100) == ""


def test_a_terminal_has_a_bar_and_no_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "INTERVAL", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    shown = stderr_of(monkeypatch, Watched(), None, 100)
    assert "4/100" in shown
    assert "done in" not in shown


def test_words_of_a_line() -> None:
    lines = Lines("reading", None)
    lines.advance(1200)
    assert lines.line(61) == "reading: 1,200 done in 0:01:01"
    lines.total = 3600
    assert lines.line(60) == "reading: 1,200 of 3,600 done in 0:01:00, about 0:02:00 to go"
    assert clock(3723) == "1:02:03"
