"""Where the real data sets are, if they are: beside the repository."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).parents[4] / "shared" / "data"


def needs(name):
    """The folder of a real data set; the test is skipped where it is absent."""
    if not (SHARED / name).is_dir():
        pytest.skip(f"needs ../shared/data/{name}, which is not beside this clone")
    return SHARED / name
