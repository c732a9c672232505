"""Labels and scores of a whole data set: what they are decides the task."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from assay.core.errors import InputError
from assay.datasets.dataset import Task

Label = int | str | float | None
Settled = tuple[list[Label], tuple[str, ...] | None, Task]  # one per example, names in order, task
NONE = ("", "-")  # how tables write that there is no label
SPARSE = 100  # whole numbers beyond this with many gaps are names, not indices


def settle(values: Sequence[Any], names: Mapping[int, str], *, scores: bool = False) -> Settled:
    """Labels as they are used from now on: an index into the names, a name, or a float for regression.

    Strings stay names, sorted; whole numbers are indices, named where names are known; numbers with a fraction, or a
    column of scores, make it a regression.
    """
    clean = _numbers([_clean(value, i) for i, value in enumerate(values)])
    present = [value for value in clean if value is not None]
    if not present:
        return clean, None, "regression" if scores else "classification"
    if scores or any(isinstance(value, float) for value in present):
        return [_score(value, i) for i, value in enumerate(clean)], None, "regression"
    if all(isinstance(value, int) for value in present):
        return _indices(clean, names)
    return _named(clean)


def _clean(value: Any, i: int) -> Label:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or (isinstance(value, str) and value.strip() in NONE) or value != value:  # NaN
        return None
    if isinstance(value, bool):
        return int(value)
    if not isinstance(value, int | float | str):
        raise InputError(f"the label is a {type(value).__name__}; give a name, a whole number or a score", i)
    return value


def _numbers(values: list[Label]) -> list[Label]:
    """Tables of text hold numbers as strings: if all of them are numbers, they are numbers."""
    texts = [value for value in values if isinstance(value, str)]
    for pattern, kind in ((r"[+-]?\d+", int), (r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", float)):
        if texts and all(re.fullmatch(pattern, text.strip()) for text in texts):
            return [kind(value) if isinstance(value, str) else value for value in values]
    return values


def _score(value: Label, i: int) -> float | None:
    if value is None:
        return None
    try:
        score = float(value)
    except ValueError as error:
        raise InputError(f"the score {value!r} is no number; name a column of numbers", i) from error
    if not math.isfinite(score):
        raise InputError(f"the score is {score}; give a finite number", i)
    return score


def _indices(values: list[Label], names: Mapping[int, str]) -> Settled:
    if names:
        values = [None if value == -1 else value for value in values]  # the hub's way to hide a label
    present = [value for value in values if isinstance(value, int)]
    highest = max([*present, *names], default=-1)
    if min(present, default=0) < 0 or (highest > SPARSE and highest > 2 * len(set(present))):
        return _named(values)
    return values, tuple(names.get(i, str(i)) for i in range(highest + 1)) or None, "classification"


def _named(values: list[Label]) -> Settled:
    texts: list[Label] = [None if value is None else str(value) for value in values]
    return texts, tuple(sorted({text for text in texts if isinstance(text, str)})), "classification"
