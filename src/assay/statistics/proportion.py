"""The interval of a share of yes and no (Wilson 1927)."""

from __future__ import annotations

from math import sqrt

from scipy.special import ndtri

from assay.core.errors import InputError
from assay.statistics.bootstrap import Interval


def proportion(hits: int, n: int, *, confidence: float = 0.95) -> Interval:
    """hits / n with the interval of all p that a score test does not reject: |hits/n - p| <= z sqrt(p (1 - p) / n).

    0 of n and n of n have an interval too, where a bootstrap has width 0: its resamples are all alike.
    """
    if not 0 <= hits <= n or n < 1:
        raise InputError(f"{hits} of {n} is not a share; give 0 <= hits <= n and n >= 1")
    z = float(ndtri((1 + confidence) / 2))
    centre, half = (hits + z**2 / 2) / (n + z**2), z / (n + z**2) * sqrt(hits * (n - hits) / n + z**2 / 4)
    low, high = max(0.0, centre - half), min(1.0, centre + half)
    return Interval(hits / n, low if hits else 0.0, high if hits < n else 1.0, n)
