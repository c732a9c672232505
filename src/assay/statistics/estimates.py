"""Numbers that a statement can be about, besides means over examples: estimates with a known variance, and extremes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from scipy.stats import norm

from assay.statistics.bootstrap import Interval


class Measured(Protocol):
    """A number with an interval at any confidence."""

    @property
    def runs(self) -> tuple[float, ...]:
        """The same number for each training, where the interval says nothing about trainings."""

    def interval(self, confidence: float) -> Interval: ...


@dataclass(frozen=True)
class Estimate:
    """A value with a normal interval. Its variance may cover more than the examples, such as trainings.

    Where the value is known to be too low (high), nothing bounds the truth above (below): that end is open.
    """

    value: float
    variance: float
    n: int = 1
    too_low: bool = False
    too_high: bool = False
    runs: tuple[float, ...] = ()

    def interval(self, confidence: float) -> Interval:
        half = float(norm.ppf((1 + confidence) / 2)) * math.sqrt(self.variance)
        low = -math.inf if self.too_high else self.value - half
        return Interval(self.value, low, math.inf if self.too_low else self.value + half, self.n)

    def __neg__(self) -> Estimate:
        runs = tuple(-run for run in self.runs)
        return replace(self, value=-self.value, too_low=self.too_high, too_high=self.too_low, runs=runs)

    def __sub__(self, other: Estimate) -> Estimate:
        """The difference of two estimates that share neither examples nor trainings."""
        return Estimate(
            self.value - other.value,
            self.variance + other.variance,
            min(self.n, other.n),
            self.too_low or other.too_high,
            self.too_high or other.too_low,
        )

    @property
    def size(self) -> Estimate:
        """Turned so that its value is positive: two-sided intervals allow to choose the sign after looking."""
        return -self if self.value < 0 else self


@dataclass(frozen=True)
class Largest:
    """The largest of several numbers, for statements that one case is enough for.

    The bounds are the largest of the parts' bounds, which hold together (Bonferroni over `among`, at least all parts;
    more if the parts were chosen among more).
    """

    parts: Sequence[Measured]
    among: int = 0
    runs: tuple[float, ...] = ()

    def interval(self, confidence: float) -> Interval:
        return _extreme(self.parts, self.among, confidence, 1)


@dataclass(frozen=True)
class Smallest:
    """The smallest of several numbers, for statements that must be true of all; bounds as of `Largest`."""

    parts: Sequence[Measured]
    among: int = 0
    runs: tuple[float, ...] = ()

    def interval(self, confidence: float) -> Interval:
        return _extreme(self.parts, self.among, confidence, -1)


def _extreme(parts: Sequence[Measured], among: int, confidence: float, sign: int) -> Interval:
    each = 1 - (1 - confidence) / max(len(parts), among)
    bounds = [part.interval(each) for part in parts]
    if any(math.isnan(b.low) or math.isnan(b.high) for b in bounds):
        return Interval(math.nan, math.nan, math.nan, 0)
    value, low, high = (
        sign * max(sign * v for v in column) for column in zip(*((b.value, b.low, b.high) for b in bounds), strict=True)
    )
    return Interval(value, low, high, min(b.n for b in bounds))
