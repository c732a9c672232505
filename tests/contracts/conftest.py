"""Order the contracts by model, so that each process computes the attributions of a model once."""

from __future__ import annotations

from pathlib import Path

import pytest

from families import CASES

HERE = Path(__file__).parent
POSITION = {case: i for i, case in enumerate(CASES)}


def _position(item: pytest.Item) -> int:
    callspec = getattr(item, "callspec", None)
    return POSITION.get(callspec.params.get("case"), len(POSITION)) if callspec else len(POSITION)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = [i for i, item in enumerate(items) if HERE in item.path.parents]
    for place, item in zip(places, sorted((items[i] for i in places), key=_position), strict=True):
        items[place] = item
