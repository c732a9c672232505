"""Order the contracts by model, so that each process computes the attributions of a model once.

Searches on prompts take many long passes and add little to searches on short texts: `make slow` runs them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from families import CASES

HERE = Path(__file__).parent
POSITION = {case: i for i, case in enumerate(CASES)}


def _position(item: pytest.Item) -> int:
    callspec = getattr(item, "callspec", None)
    return POSITION.get(callspec.params.get("case"), len(POSITION)) if callspec else len(POSITION)


def _is_slow(item: pytest.Item) -> bool:
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    prompted = parameters.get("case") in ("llama-prompted", "llama-few_shot")
    return prompted and parameters.get("method") in ("beam_search", "greedy")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents and _is_slow(item):
            item.add_marker(pytest.mark.slow)
    places = [i for i, item in enumerate(items) if HERE in item.path.parents]
    for place, item in zip(places, sorted((items[i] for i in places), key=_position), strict=True):
        items[place] = item
