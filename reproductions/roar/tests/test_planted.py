"""`assay roar` on texts with planted cues, through the script of docs/roar.md."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.slow
def test_planted_redundancy_and_leak(tmp_path: Path) -> None:
    """The cue of a label three times in a text: ROAR is blind to it and recursion is not; gold labels leak."""
    command = [sys.executable, "-m", "reproductions.roar.planted", "--folder", str(tmp_path / "p")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    results = dict(re.findall(r"^((?:predicted|gold) \w+): (.*)$", done.stdout, re.MULTILINE))
    assert "; faithful; no leak" in results["predicted recursive"]
    assert "; inconclusive; no leak" in results["predicted roar"]
    assert "; faithful; leak" in results["gold recursive"]
    assert "; inconclusive; no leak" in results["gold roar"]
