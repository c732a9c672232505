"""Fixtures of the tests of commands."""

from __future__ import annotations

import contextlib
import io
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from assay.cli.main import main

Refused = Callable[..., str]


@dataclass(frozen=True)
class Outcome:
    """How a command ended, and what it printed."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def output(self) -> str:
        return self.stdout + self.stderr


def invoke(*arguments: str) -> Outcome:
    """Run a command in this process: starting a new one takes seconds."""
    stdout, stderr, code = io.StringIO(), io.StringIO(), 0
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(stdout),
        contextlib.redirect_stderr(stderr),
        warnings.catch_warnings(),  # main() sets its own showwarning
    ):
        patch.setattr(sys, "argv", ["assay", *arguments])
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
    return Outcome(code, stdout.getvalue(), stderr.getvalue())


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch) -> Refused:
    """The error of a command that must end with exit code 2."""

    def run(*arguments: str, cwd: Path) -> str:
        monkeypatch.chdir(cwd)
        monkeypatch.setenv("NO_COLOR", "1")
        monkeypatch.setenv("COLUMNS", "200")
        monkeypatch.setenv("XDG_CACHE_HOME", str(cwd / "cache"))
        outcome = invoke(*arguments)
        assert outcome.exit_code == 2
        return outcome.stderr

    return run
