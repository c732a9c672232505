"""Rationales written as objects: {"start": 3, "end": 9} in characters, or as ERASER's evidences in tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.core.errors import InputError

BOUNDS = {("start_token", "end_token"): True, ("start", "end"): False}  # whether they count tokens
WORDS = ("text", "docid", "id")  # what such an object may say in words; a label would make it an annotation of entities


def places(marks: list[Any]) -> list[Mapping[str, Any]] | None:
    """The objects of a rationale, those of all groups of evidence in one list; None if it is written otherwise."""
    objects = [place for mark in marks for place in (mark if isinstance(mark, list) else [mark])]
    return objects if objects and all(map(_is_place, objects)) else None


def bounds(places: list[Mapping[str, Any]]) -> tuple[list[tuple[Any, Any]], bool]:
    """The (start, end) of each object, and whether they count tokens."""
    documents = {place["docid"] for place in places if "docid" in place}
    if len(documents) > 1:
        raise InputError(
            f"the rationale marks {len(documents)} documents ({', '.join(sorted(map(str, documents)))}), but only one "
            "text can hold it; write offsets into the text, or read no rationale with --columns rationale="
        )
    keys = next(keys for keys in BOUNDS if set(keys) <= set(places[0]))
    return [(place.get(keys[0]), place.get(keys[1])) for place in places], BOUNDS[keys]


def check_words(place: Mapping[str, Any], marked: str) -> None:
    """Refuse offsets that mark other words than the object quotes."""
    quoted = place.get("text")
    if isinstance(quoted, str) and _letters(quoted) != _letters(marked):
        raise InputError(
            f"a rationale quotes {quoted[:60]!r}, but its offsets mark {marked[:60]!r}; correct them, or read no "
            "rationale with --columns rationale="
        )


def _is_place(value: Any) -> bool:
    if not isinstance(value, Mapping) or not any(set(keys) <= set(value) for keys in BOUNDS):
        return False
    return not any(isinstance(cell, str) for key, cell in value.items() if key not in WORDS)


def _letters(text: str) -> str:
    return "".join(text.casefold().split())
