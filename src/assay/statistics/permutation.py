"""Paired permutation tests by sign flips (Fisher 1935, Pitman 1937), and Holm's correction for many of them (1979)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.core.errors import InputError, SpecError, nearest
from assay.core.rng import generator
from assay.statistics.bootstrap import CHUNK, EQUAL, Values, check

Alternative = Literal["two-sided", "greater"]


def paired_test(
    a: ArrayLike,
    b: ArrayLike,
    *,
    alternative: Alternative = "two-sided",
    permutations: int = 10_000,
    seed: int = 0,
) -> float:
    """How often chance alone gives a mean difference of a (n,) and b (n,) as large as the one seen: the p-value.

    If the two methods were alike, a and b could be swapped within any example, so every sign of d = a - b was as
    likely: p = share of sign patterns s with mean(s d) >= mean(d); of absolute values if two-sided. All 2^n patterns
    where there are at most `permutations` (zero differences do not count), else (1 + hits) / (1 + permutations)
    over random ones, the 1 being the pattern seen: so p is never 0 and the test never claims too much
    (Phipson & Smyth 2010).

    Weakness: with equal means but differences skewed to one side the error rate is right only for large n; n < 6 can
    never reach a two-sided p of 0.05.
    """
    first, second = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if first.shape != second.shape or first.ndim != 1:
        raise InputError(f"{first.shape} and {second.shape} values were given; a paired test needs the same examples")
    differences = check([first])[0] - check([second])[0]
    return float(sign_flips(differences[None], alternative=alternative, permutations=permutations, seed=seed)[0])


def sign_flips(
    differences: ArrayLike,  # (K,n)
    *,
    alternative: Alternative = "two-sided",
    permutations: int = 10_000,
    seed: int = 0,
) -> Values:
    """The p-value of `paired_test` for each row of differences, (K,), all from the same random signs."""
    rows = check(differences)
    if alternative not in get_args(Alternative):
        raise SpecError(f"there is no alternative {alternative!r}; {nearest(str(alternative), get_args(Alternative))}")
    if permutations < 1:
        raise SpecError(f"permutations={permutations}: needs at least 1")
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

    Calling p̃ <= α significant keeps the chance of any false claim among the m at most α, however the tests depend on
    each other. Weakness: it ignores that dependence, so it is cautious for strongly related tests.
    """
    raw = np.asarray(p, np.float64)
    if raw.ndim != 1 or not ((raw >= 0) & (raw <= 1)).all():
        raise InputError(f"{raw!r} is not a list of p-values between 0 and 1")
    order = np.argsort(raw, kind="stable")
    adjusted = np.empty_like(raw)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(raw[order] * np.arange(len(raw), 0, -1)))
    return adjusted


def _hits(rows: Values, patterns: Iterator[NDArray[np.uint8]], alternative: Alternative) -> NDArray[np.int64]:
    """Of how many patterns the sum is at least as extreme as the one seen, (K,)."""
    total = rows.sum(1)  # (K,)
    equal = EQUAL * np.abs(rows).sum(1)  # a tie is a hit, also after rounding
    seen = total if alternative == "greater" else np.abs(total)
    hits = np.zeros(len(rows), np.int64)
    for bits in patterns:  # (P,n), 1 = the sign stays
        sums = 2 * (bits.astype(np.float64) @ rows.T) - total  # (P,K)
        sums = sums if alternative == "greater" else np.abs(sums)
        hits += (sums >= seen - equal).sum(0)
    return hits


def _all_patterns(n: int) -> Iterator[NDArray[np.uint8]]:
    """Every pattern of n signs once, (2^n,n), in chunks of rows."""
    step = max(1, CHUNK // max(1, n))
    for start in range(0, 2**n, step):
        number = np.arange(start, min(start + step, 2**n))[:, None]
        yield (number >> np.arange(n) & 1).astype(np.uint8)


def _some_patterns(n: int, count: int, rng: np.random.Generator) -> Iterator[NDArray[np.uint8]]:
    """Random patterns, (count,n), in chunks of rows; each row takes whole words, so that chunks change nothing."""
    words, step = -(-n // 64), max(1, CHUNK // n)
    for start in range(0, count, step):
        drawn = rng.integers(0, 2**64, (min(step, count - start), words), np.uint64)
        yield np.unpackbits(drawn.astype("<u8").view(np.uint8), axis=1, count=n)
