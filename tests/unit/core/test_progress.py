"""Progress is a bar on a terminal and a line now and then elsewhere."""

from __future__ import annotations

import io
import sys
import time

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
    stream = io.StringIO()
    monkeypatch.setattr(progress, "INTERVAL", 0.01)
    monkeypatch.setattr(sys, "stderr", stream)
    with Progress("explaining \x1b[2Jx", 4, show, lambda: "a long step") as bar:
        wait_for(stream, "explaining [2Jx: 0 of 4 done in 0:00:00; now a long step\n")  # before any step ended
        bar.advance(3)
        wait_for(stream, "explaining [2Jx: 3 of 4 done in 0:00:00, about 0:00:00 to go; now a long step\n")
    printed = stream.getvalue()
    time.sleep(0.05)
    assert stream.getvalue() == printed  # nothing more once it has ended


def wait_for(stream: io.StringIO, line: str) -> None:
    until = time.monotonic() + 10
    while line not in stream.getvalue():
        assert time.monotonic() < until, stream.getvalue()
        time.sleep(0.005)


def test_quick_work_and_hidden_progress_print_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert stderr_of(monkeypatch, io.StringIO(), None, 100) == ""
    monkeypatch.setattr(progress, "INTERVAL", 0.0)  # a thread that printed would print at once
    assert stderr_of(monkeypatch, io.StringIO(), False, 100) == ""


def test_a_terminal_has_a_bar_and_no_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "INTERVAL", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    shown = stderr_of(monkeypatch, Watched(), None, 100)
    assert "4/100" in shown
    assert "done in" not in shown


def test_a_bar_names_what_is_being_done(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Watched()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setattr(sys, "stderr", stream)
    with Progress("running", 2, True, lambda: "train \x1b[2Jteacher"):
        pass
    assert "train [2Jteacher" in stream.getvalue()


def test_words_of_a_line() -> None:
    lines = Lines("reading", None)
    lines.advance(1200)
    assert lines.line(61) == "reading: 1,200 done in 0:01:01"
    lines.now = lambda: "a book"
    assert lines.line(61) == "reading: 1,200 done in 0:01:01; now a book"
    lines.now, lines.total = None, 3600
    assert lines.line(60) == "reading: 1,200 of 3,600 done in 0:01:00, about 0:02:00 to go"
    assert clock(3723) == "1:02:03"
