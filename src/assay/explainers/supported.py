"""Which method works on which family, as the contract tests found it (supported.json, written by them)."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files


@cache
def _found() -> dict[str, dict[str, str]]:
    text = files("assay.explainers").joinpath("supported.json").read_text(encoding="utf-8")
    table: dict[str, dict[str, str]] = json.loads(text)
    return table


def supported(method: str) -> dict[str, str]:
    """{family: "" where the method keeps its contracts, else why it refuses}; empty for a method not yet tested."""
    return _found().get(method, {})


def in_words(method: str) -> str:
    """One line for a list: all families, all but some, or those few."""
    found = supported(method)
    works, refused = ([f for f, why in found.items() if bool(why) == no] for no in (False, True))
    if not works:
        return "none yet under contract"
    if not refused:
        return f"all {len(works)}"
    return f"all but {', '.join(refused)}" if len(refused) < len(works) else ", ".join(works)
