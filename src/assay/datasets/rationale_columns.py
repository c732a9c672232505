"""Rationale columns that were guessed by name: those whose values contradict the guess are dropped, with a note."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from assay.core.cells import parse_cell
from assay.datasets.columns import ColumnMap, Columns, first_of_pair, plain_name
from assay.datasets.evidences import places
from assay.datasets.rationales import cell

ROLES = ("rationale", "rationale_pair", "rationales")


def check_rationales(
    columns: Columns, rows: Sequence[Mapping[str, Any]], given: ColumnMap
) -> tuple[Columns, tuple[str, ...]]:
    """The columns without wrong guesses, and what the user should know about those."""
    notes = []
    for role in ROLES:
        column = getattr(columns, role)
        if role in given or column is None or columns.text is columns.tokens is None:  # boxes or masks of an image
            continue
        first = next((value for row in rows if (value := parse_cell(cell(row, column))) not in (None, "", [])), None)
        if first is None:
            continue
        reason = _elsewhere(first, column, columns, rows[0]) or _not_marks(first, column)
        if reason is not None:
            columns = replace(columns, **{role: None})
            notes.append(reason)
    labels, rationales = columns.annotator_labels, columns.rationales
    if labels and rationales and not all(_length(row.get(labels)) == _length(row.get(rationales)) for row in rows):
        columns = replace(columns, annotator_labels=None)
    return columns, tuple(filter(None, notes))


def _elsewhere(value: Any, column: str, columns: Columns, row: Mapping[str, Any]) -> str | None:
    """Why a rationale is about a text that is not read."""
    if isinstance(value, Mapping) or columns.text_pair is not None or columns.text is None:
        return None
    document = first_of_pair(columns.text, row)
    if document is not None and not column.startswith(f"{columns.text}_"):
        return f"The rationales in {column!r} are not used: they mark {document!r}, but only {columns.text!r} is read."
    if plain_name(column) == "evidences" and plain_name(columns.text) in ("query", "claim", "question"):
        return (
            f"The rationales in {column!r} are not used: they mark documents that are not among the columns, and only "
            f"{columns.text!r} is read; add the documents as a column 'document'."
        )
    return None


def _not_marks(value: Any, column: str) -> str | None:
    """Why a value cannot be a rationale, or several; empty for prose, which is noted among the texts."""
    if isinstance(value, str):
        return None if value.lstrip()[:1] == "[" else ""  # a list that cannot be read is an error, not prose
    if _is_record(value) and places(value) is None:
        return f"The objects in {column!r} are not read as rationales; those have a start and an end, and no label."
    return None


def _is_record(value: Any) -> bool:
    return (
        isinstance(value, list) and isinstance(value[0], Mapping) and any(isinstance(v, str) for v in value[0].values())
    )


def _length(value: Any) -> int:
    parsed = parse_cell(value)
    return len(parsed) if isinstance(parsed, list) else 0
