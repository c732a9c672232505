"""What a figure shows of tidy rows: a mean, how sure the examples make it, and how far trainings differ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.statistics.bootstrap import intervals

RESAMPLES = 1000  # percentile intervals of 1000 draws: seaborn's default, as in the thesis


@dataclass(frozen=True)
class Point:
    """One mark of a figure. The two variances stay apart: [low, high] is over examples, `runs` over trainings."""

    value: float  # mean over examples of the mean over trainings
    low: float
    high: float
    runs: tuple[float, ...]  # mean of each training, in the order of the rows
    n: int  # examples

    @property
    def spread(self) -> tuple[float, float]:
        """From the lowest training to the highest; a range, because three trainings have no interval worth its name."""
        return min(self.runs), max(self.runs)


def by_example(rows: Iterable[Mapping[str, Any]], value: str = "value") -> tuple[dict[str, float], tuple[float, ...]]:
    """The mean over trainings of each example, and the mean over examples of each training; empty values left out.

    A training is told by `model`: a seed alone does not say of which.
    """
    examples: dict[str, list[float]] = defaultdict(list)
    runs: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        if row[value] is not None:
            examples[row["example"]].append(float(row[value]))
            runs[row["model"]].append(float(row[value]))
    means = {example: float(np.mean(found)) for example, found in examples.items()}
    return means, tuple(float(np.mean(found)) for found in runs.values())


def points(
    rows: Iterable[Mapping[str, Any]], by: Sequence[str] = ("grid", "method"), value: str = "value"
) -> dict[tuple[Any, ...], Point]:
    """A Point for every combination of the fields `by` that has a value."""
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[tuple(row[field] for field in by)].append(row)
    found = {key: by_example(group, value) for key, group in groups.items()}
    sized: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for key, (means, _) in found.items():
        sized[len(means)].append(key)
    made: dict[tuple[Any, ...], Point] = {}
    for n, keys in sized.items():  # groups of as many examples share their draws
        if n:
            table = np.array([list(found[key][0].values()) for key in keys])  # (K,n)
            for key, i in zip(keys, intervals(table, kind="percentile", resamples=RESAMPLES), strict=True):
                made[key] = Point(i.value, i.low, i.high, found[key][1], n)
    return {key: made[key] for key in groups if key in made}
