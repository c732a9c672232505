"""Aggregate tidy rows for figures: means, intervals over examples, and ranges over trainings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.statistics.bootstrap import intervals

RESAMPLES = 1000  # of percentile intervals, seaborn's default


@dataclass(frozen=True)
class Point:
    """One point of a figure: [low, high] is the interval over examples, `runs` the means of the trainings."""

    value: float  # mean over examples of the mean over trainings
    low: float
    high: float
    runs: tuple[float, ...]  # mean of each training, in the order of the rows
    n: int  # examples

    @property
    def spread(self) -> tuple[float, float]:
        """From the lowest to the highest training; a range, because few trainings give no reliable interval."""
        return min(self.runs), max(self.runs)


def by_example(rows: Iterable[Mapping[str, Any]], value: str = "value") -> tuple[dict[str, float], tuple[float, ...]]:
    """The mean over trainings of each example, and the mean over examples of each training; None values are left out.

    Trainings are identified by `model`: seeds repeat between models.
    """
    examples: dict[str, list[float]] = defaultdict(list)
    runs: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        if row[value] is not None:
            examples[row["example"]].append(float(row[value]))
            runs[row["model"]].append(float(row[value]))
    means = {example: float(np.mean(values)) for example, values in examples.items()}
    return means, tuple(float(np.mean(values)) for values in runs.values())


def points(
    rows: Iterable[Mapping[str, Any]], by: Sequence[str] = ("grid", "method"), value: str = "value"
) -> dict[tuple[Any, ...], Point]:
    """A Point for every combination of the fields `by` that has a value."""
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[tuple(row[field] for field in by)].append(row)
    means_of = {key: by_example(group, value) for key, group in groups.items()}
    sized: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for key, (means, _) in means_of.items():
        sized[len(means)].append(key)
    point_of: dict[tuple[Any, ...], Point] = {}
    for n, keys in sized.items():  # groups of equal size share their resamples
        if n:
            table = np.array([list(means_of[key][0].values()) for key in keys])  # (K,n)
            for key, i in zip(keys, intervals(table, kind="percentile", resamples=RESAMPLES), strict=True):
                point_of[key] = Point(i.value, i.low, i.high, means_of[key][1], n)
    return {key: point_of[key] for key in groups if key in point_of}
