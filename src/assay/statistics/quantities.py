"""The numbers that statements of a claim are about, each with its interval: means, other statistics, differences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri, stdtrit

from assay.statistics.bootstrap import Interval, Statistic, Values, interval, intervals
from assay.statistics.estimates import Measured

TAIL = 20  # resamples beyond each end of an interval


@dataclass(frozen=True)
class Quantity:
    """A mean over examples, or another statistic of their values (n,)."""

    values: Values
    runs: tuple[float, ...] = ()
    statistic: Statistic | None = None

    def interval(self, confidence: float) -> Interval:
        if self.statistic is None:
            return mean_intervals([self.values], confidence)[0]
        resamples = _resamples(confidence)
        bounds = interval(self.values, statistic=self.statistic, confidence=confidence, resamples=resamples)
        return _widened(bounds, confidence)


@dataclass(frozen=True)
class Exact:
    """A number without uncertainty, such as a count of passes."""

    value: float
    runs: tuple[float, ...] = ()

    def interval(self, confidence: float) -> Interval:
        return Interval(self.value, self.value, self.value, 1)


@dataclass(frozen=True)
class Difference:
    """first - second, measured on different examples: the squared widths of both intervals add up.

    Zou and Donner 2008 (MOVER): low = a - b - sqrt((a - low_a)^2 + (high_b - b)^2), and high alike.
    """

    first: Measured
    second: Measured

    @property
    def runs(self) -> tuple[float, ...]:
        """By training, if both have equally many; otherwise the trainings cannot be paired."""
        first, second = self.first.runs, self.second.runs
        return tuple(a - b for a, b in zip(first, second, strict=True)) if len(first) == len(second) else ()

    def interval(self, confidence: float) -> Interval:
        a, b = self.first.interval(confidence), self.second.interval(confidence)
        value = a.value - b.value
        low = value - math.hypot(a.value - a.low, b.high - b.value)
        high = value + math.hypot(a.high - a.value, b.value - b.low)
        return Interval(value, low, high, min(a.n, b.n))


def mean_intervals(rows: Sequence[Values], confidence: float) -> list[Interval]:
    """BCa intervals of the means of rows of equal length (K,n), widened as few examples need it."""
    found = intervals(np.array(rows), confidence=confidence, resamples=_resamples(confidence))
    return [_widened(bounds, confidence) for bounds in found]


def _resamples(confidence: float) -> int:
    return max(10_000, math.ceil(2 * TAIL / (1 - confidence)))


def _widened(bounds: Interval, confidence: float) -> Interval:
    """A bootstrap interval of n values is too narrow by about z / t sqrt((n - 1) / n) (Hesterberg 2015)."""
    n, level = bounds.n, (1 + confidence) / 2
    if n < 2:
        return bounds
    factor = float(stdtrit(n - 1, level) / ndtri(level)) * math.sqrt(n / (n - 1))
    low, high = (
        bounds.value - factor * (bounds.value - bounds.low),
        bounds.value + factor * (bounds.high - bounds.value),
    )
    return replace(bounds, low=low, high=high)
