"""Infer label names and task from the labels or scores of a data set."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from assay.core.errors import InputError
from assay.datasets.dataset import Task

Label = int | str | float | None
Inferred = tuple[list[Label], tuple[str, ...] | None, Task]  # label of each example, label names, task
MISSING = ("", "-")  # how tables write a missing label
WHOLE = r"[+-]?(0|[1-9]\d{0,15})"  # 007 is a name
DECIMAL = r"[+-]?((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][+-]?\d+)?"
LARGEST = 1e300  # a number above it is a mistake
MAX_SPARSE_INDEX = 100  # larger integers with many gaps are names, not indices


def infer_labels(values: Sequence[Any], names: Mapping[int, str], *, scores: bool = False) -> Inferred:
    """Convert labels to indices, names or (regression) floats.

    Strings are class names, sorted; integers (1.0 too) are class indices with `names` where known; numbers with a
    fraction, or `scores`, make it a regression.
    """
    clean = _parse_numbers([_clean(value, i) for i, value in enumerate(values)])
    present = [value for value in clean if value is not None]
    if not present:
        return clean, None, "regression" if scores else "classification"
    if not scores and all(_is_whole(value) for value in present):
        return _indices([None if value is None else int(value) for value in clean], names)
    if scores or any(isinstance(value, float) for value in present):
        return [_score(value, i) for i, value in enumerate(clean)], None, "regression"
    return _named(clean)


def _clean(value: Any, i: int) -> Label:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, list | tuple):
        value = _only(value, i)
    if isinstance(value, str):
        return None if value.strip() in MISSING else value.strip()
    if isinstance(value, bool):
        return int(value)
    if not isinstance(value, int | float | None):
        raise InputError(f"unsupported label type {type(value).__name__}; give a name, an integer or a score", i)
    if value is not None and not abs(value) <= LARGEST:
        raise InputError(f"the label is {_short(value)}; give a name, an index or a score, or leave it empty", i)
    return value


def _only(labels: Sequence[Any], i: int) -> Any:
    """The label in a list, as multi-label data sets write it."""
    if len(labels) > 1:
        several = ", ".join(map(repr, labels[:3])) + ", ..." * (len(labels) > 3)
        raise InputError(f"there are {len(labels)} labels ({several}); keep one, or leave the row out", i)
    return labels[0] if labels else None


def _short(number: float) -> str:
    return str(number) if isinstance(number, float) else f"larger than {LARGEST:g}"


def _parse_numbers(values: list[Label]) -> list[Label]:
    """Text files hold numbers as strings: convert them if all strings are numbers."""
    texts = [value for value in values if isinstance(value, str)]
    for pattern, convert in ((WHOLE, int), (DECIMAL, float)):
        if texts and all(re.fullmatch(pattern, text) for text in texts):
            return [convert(value) if isinstance(value, str) else value for value in values]
    return values


def _is_whole(value: Label) -> bool:
    return isinstance(value, int) or (isinstance(value, float) and value.is_integer() and abs(value) < MAX_SPARSE_INDEX)


def _score(value: Label, i: int) -> float | None:
    if value is None:
        return None
    try:
        score = float(value)
    except ValueError as error:
        raise InputError(f"the score {value!r} is not a number; choose a column of numbers", i) from error
    if not math.isfinite(score):
        raise InputError(f"the score is {score}; scores must be finite", i)
    return score


def _indices(values: list[Label], names: Mapping[int, str]) -> Inferred:
    if names:
        values = [None if value == -1 else value for value in values]  # the hub's convention for a hidden label
    present = [value for value in values if isinstance(value, int)]
    highest = max([*present, *names], default=-1)
    if min(present, default=0) < 0 or (highest > MAX_SPARSE_INDEX and highest > 2 * len(set(present))):
        return _named(values)
    return values, tuple(names.get(i, str(i)) for i in range(highest + 1)) or None, "classification"


def _named(values: list[Label]) -> Inferred:
    names: list[Label] = [None if value is None else str(value) for value in values]
    return names, tuple(sorted({name for name in names if isinstance(name, str)})), "classification"
