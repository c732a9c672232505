"""Notes on labels: values that may be ids, scores or empty cells, and names that differ only in case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from assay.datasets.column_notes import option
from assay.datasets.labels import Inferred
from assay.datasets.text_notes import EMPTY_WORDS, share

FEW = 10  # examples below which the number of different labels says nothing
MANY = 50  # different whole numbers that look like scores


def label_notes(
    given: Sequence[Any], inferred: Inferred, column: str | None, *, named: bool, guessed: str | None
) -> Iterator[str]:
    """What the user should know about labels.

    given: as in the file; named: whether it names its integer labels; guessed: a column taken for scores by its name.
    """
    labels, names, task = inferred
    present = [label for label in labels if label is not None]
    if not present:
        return
    if len(present) < len(labels):
        yield f"{share(len(labels) - len(present), len(labels))} examples have no label."
    if task == "classification" and names is not None:
        yield from _class_notes(given, present, names, column or "label", named=named)
    elif guessed is not None and len(set(present)) <= FEW and all(float(label).is_integer() for label in present):
        yield f"The whole numbers in {guessed!r} are read as scores; if they are classes: {option({'label': guessed})}."


def _class_notes(
    given: Sequence[Any], labels: Sequence[Any], names: Sequence[str], column: str, *, named: bool
) -> Iterator[str]:
    numbers = [label for label in labels if isinstance(label, int)]
    distinct = len(set(labels))
    as_score = f"if they are scores: {option({'score': column})}"
    if any(_has_fraction(value) for value in given):
        yield f"Labels such as {next(v for v in given if _has_fraction(v))!r} are read as classes; {as_score}."
    if len(labels) >= FEW and 2 * distinct > len(labels):
        yield (
            f"The column {column!r} has {distinct:,} different labels for {len(labels):,} examples; "
            "if they are ids or texts, choose another with --columns label=COLUMN."
        )
    elif numbers and not named and distinct > MANY:
        yield f"The {distinct} different whole numbers in {column!r} are read as classes; {as_score}."
    elif numbers and not named and min(numbers) > 0 and distinct > 1:
        yield (
            f"The labels {min(numbers)} to {max(numbers)} are read as indices of classes, which count from 0; "
            f"if {min(numbers)} is the first class, subtract {min(numbers)}."
        )
    yield from _name_notes(names)
    words = [value for value in given if isinstance(value, str) and not _is_number(value)]
    figures = [value for value in given if not isinstance(value, str) and _is_number(value)]
    if words and figures:
        yield f"The labels are numbers ({figures[0]}) and words ({words[0]!r}) mixed; each is a class of its own."


def _name_notes(names: Sequence[str]) -> Iterator[str]:
    same: dict[str, list[str]] = {}
    for name in names:
        same.setdefault(name.casefold(), []).append(name)
    for variants in same.values():
        if len(variants) > 1:
            yield f"The labels {' and '.join(map(repr, variants))} differ only in case and are classes of their own."
    empty = [name for name in names if name in EMPTY_WORDS]
    if empty:
        yield f"The label {empty[0]!r} is read as a class; if it is an empty cell, leave the cell empty."


def _has_fraction(value: Any) -> bool:
    return _is_number(value) and ("." in str(value) or "e" in str(value).lower())


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return not isinstance(value, bool)
