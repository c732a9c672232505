"""Which methods work with which families, as the contract tests found (they write supported.json)."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files


@cache
def _table() -> dict[str, dict[str, str]]:
    text = files("assay.explainers").joinpath("supported.json").read_text(encoding="utf-8")
    table: dict[str, dict[str, str]] = json.loads(text)
    return table


def supported(method: str) -> dict[str, str]:
    """{family: "" if the method works, else why not}; empty for a method that is not tested yet."""
    return _table().get(method, {})


def in_words(method: str) -> str:
    """One line for a list: all families, all but some, or a few."""
    reasons = supported(method)
    works, refused = ([f for f, why in reasons.items() if bool(why) == no] for no in (False, True))
    if not works:
        return "prompted language models" if refused else "not tested yet"
    if not refused:
        return f"all {len(works)}"
    return f"all but {', '.join(refused)}" if len(refused) < len(works) else ", ".join(works)
