"""Bootstrap confidence intervals over examples: percentile (Efron 1979) and BCa (Efron 1987)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from assay.core.errors import InputError, SpecError, nearest
from assay.core.rng import generator

Kind = Literal["bca", "percentile"]
Values: TypeAlias = NDArray[np.float64]
Statistic: TypeAlias = Callable[[Values], Values]  # (..., n) -> (...), the last axis being the examples

CHUNK = 2**20  # numbers drawn at once; bounds memory, does not change the result
EQUAL = 1e-12  # relative tolerance below which two means count as equal, for rounding errors


@dataclass(frozen=True, slots=True)
class Interval:
    """A value with its confidence interval over `n` examples; `low` and `high` are NaN if n = 1."""

    value: float
    low: float
    high: float
    n: int


def interval(
    values: ArrayLike,
    *,
    statistic: Statistic | None = None,
    confidence: float = 0.95,
    kind: Kind = "bca",
    resamples: int = 10_000,
    seed: int = 0,
) -> Interval:
    """Confidence interval of the mean of `values` (n,), or of any `statistic` that maps (..., n) to (...).

    Resample n values with replacement `resamples` times and compute the statistic t* of each resample.
    percentile: the quantiles α/2 and 1-α/2 of t*.  bca: the quantiles Φ(z0 + (z0+z)/(1 - a(z0+z))), z = Φ⁻¹ of those
    levels, z0 = Φ⁻¹(share of t* below t, ties half), a = Σd³ / (6 (Σd²)^1.5), d = jackknife mean - jackknife values.

    Weakness: both are too narrow for n < 30 or long tails (docs/statistics.md shows by how much). If all values are
    equal, the interval has width 0; a single value gives NaN.
    """
    row = np.asarray(values, np.float64)
    if row.ndim != 1:
        raise InputError(f"values have shape {row.shape}; an interval needs one value per example, shape (n,)")
    return intervals(row[None], statistic=statistic, confidence=confidence, kind=kind, resamples=resamples, seed=seed)[
        0
    ]


def intervals(
    rows: ArrayLike,  # (K,n)
    *,
    statistic: Statistic | None = None,
    confidence: float = 0.95,
    kind: Kind = "bca",
    resamples: int = 10_000,
    seed: int = 0,
) -> list[Interval]:
    """`interval` of each row, all from the same resamples: methods evaluated on the same examples."""
    rows = check_values(rows)
    if kind not in get_args(Kind):
        raise SpecError(f"unknown interval {kind!r}; {nearest(str(kind), get_args(Kind))}")
    if not 0 < confidence < 1 or resamples < 1:
        raise SpecError(f"confidence={confidence}, resamples={resamples}: give 0 < confidence < 1, resamples >= 1")
    n = rows.shape[1]
    value = rows.mean(1) if statistic is None else np.asarray(statistic(rows), np.float64)  # (K,)
    if n == 1:
        return [Interval(float(v), np.nan, np.nan, 1) for v in value]
    draws = np.sort(_resampled(rows, statistic, resamples, generator("bootstrap", seed)), 1)  # (K,R)
    levels = np.array([(1 - confidence) / 2, (1 + confidence) / 2])[:, None] * np.ones(len(rows))  # (2,K)
    if kind == "bca":
        levels = _bca_levels(levels, draws, value, _acceleration(rows, statistic), EQUAL * np.abs(rows).max(1))
    low, high = _quantile(draws, levels[0]), _quantile(draws, levels[1])
    constant = np.ptp(rows, 1) == 0  # set exactly; sums of floats would leave a width of 1e-17
    same = rows[:, 0] if statistic is None else value
    value, low, high = (np.where(constant, same, x) for x in (value, low, high))
    return [Interval(float(v), float(lo), float(hi), n) for v, lo, hi in zip(value, low, high, strict=True)]


def check_values(rows: ArrayLike, names: Sequence[str] | None = None) -> Values:
    """Rows (K,n) as float64; raises if values are missing or not finite. `names`: of the rows, for the message."""
    values = np.asarray(rows, np.float64)
    if values.ndim != 2 or values.shape[1] == 0:
        raise InputError(f"values have shape {values.shape}; give at least one value per row, shape (K, n)")
    bad = ~np.isfinite(values)
    if bad.any():
        row, example = (int(i) for i in np.argwhere(bad)[0])
        name = f"{names[row]}, " if names else f"row {row}, " if len(values) > 1 else ""
        raise InputError(
            f"{int(bad.sum())} of {values.size} values are NaN or infinite, the first at {name}example {example}; "
            "leave out examples on which the metric is undefined, for all methods"
        )
    return values


def _resampled(rows: Values, statistic: Statistic | None, resamples: int, rng: np.random.Generator) -> Values:
    """The statistic of every resample, (K,R)."""
    n = rows.shape[1]
    if statistic is None:
        return np.hstack([rows @ _counts(index, n).T / n for index in _draws(n, resamples, rng)])
    out = np.hstack([np.asarray(statistic(rows[:, index]), np.float64) for index in _draws(n, resamples, rng)])
    if not np.isfinite(out).all():
        raise InputError("the statistic is not finite on some resamples; use one that is always finite")
    return out


def _draws(n: int, resamples: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    """The examples in each resample, (R,n), in chunks of rows."""
    step = max(1, CHUNK // n)
    for start in range(0, resamples, step):
        yield rng.integers(0, n, (min(step, resamples - start), n))


def _counts(index: NDArray[np.int64], n: int) -> Values:
    """How often each resample contains each example, (R,n), so that means are a matrix product."""
    flat = index + n * np.arange(len(index))[:, None]
    return np.bincount(flat.ravel(), minlength=index.size).reshape(index.shape).astype(np.float64)


def _acceleration(rows: Values, statistic: Statistic | None) -> Values:
    """a = Σd³ / (6 (Σd²)^1.5) by the jackknife, (K,); for the mean d is proportional to x - mean(x). 0 if d is 0."""
    if statistic is None:
        d = rows - rows.mean(1, keepdims=True)
    else:
        n = rows.shape[1]
        others = np.arange(n - 1) + (np.arange(n - 1) >= np.arange(n)[:, None])  # (n,n-1): row i leaves out i
        left_out = np.asarray(statistic(rows[:, others]), np.float64)  # (K,n)
        d = left_out.mean(1, keepdims=True) - left_out
    square = (d**2).sum(1)
    out: Values = np.divide((d**3).sum(1), 6 * square**1.5, out=np.zeros(len(rows)), where=square > 0)
    return out


def _bca_levels(levels: Values, draws: Values, value: Values, acceleration: Values, equal: Values) -> Values:
    """The corrected quantile levels, (2,K); unchanged where all resamples lie on one side of the value."""
    gap = draws - value[:, None]
    below, above = (gap < -equal[:, None]).mean(1), (gap > equal[:, None]).mean(1)
    share = (below + 1 - above) / 2  # of resamples below the value, ties counted half
    inside = (share > 0) & (share < 1)
    z0 = ndtri(np.where(inside, share, 0.5))
    z = z0 + ndtri(levels)  # (2,K)
    bent = 1 - acceleration * z
    adjusted: Values = ndtr(z0 + z / np.where(bent > 0, bent, 1.0))
    return np.where(inside & (bent > 0).all(0), adjusted, levels)


def _quantile(ordered: Values, level: Values) -> Values:
    """A separate quantile of each row, with linear interpolation (numpy's default)."""
    position = level * (ordered.shape[1] - 1)
    left = np.floor(position).astype(np.int64)
    right = np.minimum(left + 1, ordered.shape[1] - 1)
    rows = np.arange(len(ordered))
    out: Values = ordered[rows, left] + (position - left) * (ordered[rows, right] - ordered[rows, left])
    return out  # exact where the neighbours are equal
