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


def invoke_in(folder: Path, *arguments: str) -> Outcome:
    """The same in a folder and with a plain, wide terminal. Each command also has a test with a real process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("NO_COLOR", "1")
        patch.setenv("COLUMNS", "200")
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        return invoke(*arguments)


@pytest.fixture
def refused() -> Refused:
    """The error of a command that must end with exit code 2."""

    def run(*arguments: str, cwd: Path) -> str:
        outcome = invoke_in(cwd, *arguments)
        assert outcome.exit_code == 2
        return outcome.stderr

    return run
