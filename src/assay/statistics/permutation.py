"""Paired permutation tests by sign flips (Fisher 1935, Pitman 1937), and Holm's correction (1979)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.core.errors import InputError, SpecError, nearest
from assay.core.rng import generator
from assay.statistics.bootstrap import CHUNK, EQUAL, Values, check_values

Alternative = Literal["two-sided", "greater"]


def paired_test(
    a: ArrayLike,
    b: ArrayLike,
    *,
    alternative: Alternative = "two-sided",
    permutations: int = 10_000,
    seed: int = 0,
) -> float:
    """p-value of the mean difference between a (n,) and b (n,), paired by example.

    Under the null hypothesis a and b are exchangeable within each example, so both signs of d = a - b are equally
    likely: p = share of sign patterns s with mean(s d) >= mean(d), or with absolute values if two-sided. Exact over all
    2^n patterns if there are at most `permutations` (zero differences do not count); otherwise
    (1 + hits) / (1 + permutations) over random patterns, where the 1 is the observed pattern, so that p is never 0 and
    the test is valid (Phipson & Smyth 2010).

    Weakness: for equal means with skewed differences the error rate is correct only for large n; with n < 6 a two-sided
    p cannot reach 0.05.
    """
    first, second = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if first.shape != second.shape or first.ndim != 1:
        raise InputError(f"values have shapes {first.shape} and {second.shape}; a paired test needs the same examples")
    differences = check_values([first])[0] - check_values([second])[0]
    return float(sign_flips(differences[None], alternative=alternative, permutations=permutations, seed=seed)[0])


def sign_flips(
    differences: ArrayLike,  # (K,n)
    *,
    alternative: Alternative = "two-sided",
    permutations: int = 10_000,
    seed: int = 0,
) -> Values:
    """The p-value of `paired_test` for each row of differences, (K,), all from the same random signs."""
    rows = check_values(differences)
    if alternative not in get_args(Alternative):
        raise SpecError(f"unknown alternative {alternative!r}; {nearest(str(alternative), get_args(Alternative))}")
    if permutations < 1:
        raise SpecError(f"permutations={permutations}: must be at least 1")
    counts = (rows != 0).sum(1)
    few = counts < np.log2(permutations + 1)  # 2^count patterns <= permutations
    out = np.empty(len(rows))
    for i in np.flatnonzero(few):
        nonzero = rows[i, rows[i] != 0][None]
        out[i] = _hits(nonzero, _all_patterns(int(counts[i])), alternative)[0] / 2 ** int(counts[i])
    if not few.all():
        patterns = _some_patterns(rows.shape[1], permutations, generator("permutation", seed))
        out[~few] = (1 + _hits(rows[~few], patterns, alternative)) / (1 + permutations)
    return out


def holm(p: ArrayLike) -> Values:
    """Adjusted p-values: p̃_(i) = max over j <= i of min(1, (m - j + 1) p_(j)), p sorted (Holm 1979).

    Rejecting at p̃ <= α controls the family-wise error rate of the m tests at α under any dependence. Weakness: it is
    conservative for strongly dependent tests.
    """
    raw = np.asarray(p, np.float64)
    if raw.ndim != 1 or not ((raw >= 0) & (raw <= 1)).all():
        raise InputError(f"{raw!r} is not a list of p-values between 0 and 1")
    order = np.argsort(raw, kind="stable")
    adjusted = np.empty_like(raw)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(raw[order] * np.arange(len(raw), 0, -1)))
    return adjusted


def sign_flips_together(differences: ArrayLike, *, permutations: int = 10_000, seed: int = 0) -> Values:
    """Two-sided p-values (K,) of rows of differences (K,n), adjusted for their number by Westfall & Young (1993).

    All rows get the same random signs. Rows in the order of |Σ d| / sqrt(Σ d²): p of a row = share of patterns in which
    the largest statistic of this row and those after it is at least its own; never smaller than that of a row before.
    Rejecting at p <= α controls the family-wise error rate, and rows that depend on each other cost less than with
    `holm`. Rows of zeros have p = 1. Exact where there are at most `permutations` patterns.
    """
    rows = check_values(differences)
    length = np.sqrt((rows**2).sum(1))
    scaled = np.divide(rows, length[:, None], out=np.zeros_like(rows), where=length[:, None] > 0)
    order = np.argsort(-np.abs(scaled.sum(1)), kind="stable")
    scaled = scaled[order]
    observed = np.abs(scaled.sum(1)) - EQUAL * np.abs(scaled).sum(1)
    n = rows.shape[1]
    exact = 2**n <= permutations
    patterns = _all_patterns(n) if exact else _some_patterns(n, permutations, generator("permutation", seed))
    hits = np.zeros(len(rows))
    for bits in patterns:  # (P,n), 1 = the sign is kept
        sums = np.abs(2 * (bits.astype(np.float64) @ scaled.T) - scaled.sum(1))  # (P,K)
        hits += (np.maximum.accumulate(sums[:, ::-1], 1)[:, ::-1] >= observed).sum(0)
    p = hits / 2**n if exact else (1 + hits) / (1 + permutations)
    adjusted = np.empty(len(rows))
    adjusted[order] = np.maximum.accumulate(p)
    return np.where(length > 0, adjusted, 1.0)


def _hits(rows: Values, patterns: Iterator[NDArray[np.uint8]], alternative: Alternative) -> NDArray[np.int64]:
    """The number of patterns whose sum is at least as extreme as the observed one, (K,)."""
    total = rows.sum(1)  # (K,)
    equal = EQUAL * np.abs(rows).sum(1)  # ties count as hits, also after rounding
    observed = total if alternative == "greater" else np.abs(total)
    hits = np.zeros(len(rows), np.int64)
    for bits in patterns:  # (P,n), 1 = the sign is kept
        sums = 2 * (bits.astype(np.float64) @ rows.T) - total  # (P,K)
        sums = sums if alternative == "greater" else np.abs(sums)
        hits += (sums >= observed - equal).sum(0)
    return hits


def _all_patterns(n: int) -> Iterator[NDArray[np.uint8]]:
    """Every pattern of n signs once, (2^n,n), in chunks of rows."""
    step = max(1, CHUNK // max(1, n))
    for start in range(0, 2**n, step):
        number = np.arange(start, min(start + step, 2**n))[:, None]
        yield (number >> np.arange(n) & 1).astype(np.uint8)


def _some_patterns(n: int, count: int, rng: np.random.Generator) -> Iterator[NDArray[np.uint8]]:
    """Random patterns, (count,n), in chunks; each row uses whole 64-bit words, so that chunking changes nothing."""
    words, step = -(-n // 64), max(1, CHUNK // n)
    for start in range(0, count, step):
        drawn = rng.integers(0, 2**64, (min(step, count - start), words), np.uint64)
        yield np.unpackbits(drawn.astype("<u8").view(np.uint8), axis=1, count=n)
