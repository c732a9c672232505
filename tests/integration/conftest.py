"""What the tests of commands share."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.cli.main import main

Refused = Callable[..., str]


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Refused:
    """What a command says that must end with exit code 2. In this process: starting one costs seconds per mistake."""

    def run(*arguments: str, cwd: Path) -> str:
        monkeypatch.chdir(cwd)
        monkeypatch.setenv("NO_COLOR", "1")
        monkeypatch.setenv("COLUMNS", "200")
        monkeypatch.setenv("XDG_CACHE_HOME", str(cwd / "cache"))
        monkeypatch.setattr(sys, "argv", ["assay", *arguments])
        monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # main() sets its own
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code == 2
        return capsys.readouterr().err

    return run
