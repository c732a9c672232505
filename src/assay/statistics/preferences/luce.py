"""Strengths of methods from rankings with ties: the Davidson-Luce model (Firth, Kosmidis & Turner 2019).

No Python library has Plackett-Luce with ties (choix has none); without ties this is Plackett-Luce, which the tests
compare with choix, and with two methods it is Davidson's (1970) Bradley-Terry model with ties.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from assay.core.errors import InputError
from assay.core.rng import generator
from assay.statistics.bootstrap import Values
from assay.statistics.preferences.judgement import Judgements

PRIOR = 0.1  # 1 / variance of the normal prior of all parameters: keeps a method that always wins finite
MAX_METHODS = 10  # 1,023 subsets can tie
STEPS = 100
CLOSE = 1e-9


@dataclass(frozen=True, slots=True)
class Strength:
    """A method's log strength (their mean is 0) with its interval, and how often it comes first among all methods."""

    method: str
    value: float
    low: float
    high: float
    first: float


@dataclass(frozen=True, eq=False)
class _Counts:
    """Sufficient statistics: what each ranking chose at each stage, and from which methods.

    A ranking is a row of choices: the best (tied) set of all methods, then the best of the rest, ... The probability of
    choosing the set C of A is f(C) / Σ f(T) over all T in A that may tie, f(C) = δ_|C| (Π_i∈C α_i)^(1/|C|), δ_1 = 1.
    """

    features: Values  # (T,P): of each set T that may tie: 1/|T| for its methods, then 1 for its size
    inside: Values  # (A,T): whether T is a subset of the A that was chosen from
    chosen: Values  # (N,P): the features that each ranking chose, summed over its stages
    stages: Values  # (N,A): how often each ranking chose from A


def strengths(judgements: Judgements, *, resamples: int = 1000, seed: int = 0, prior: float = PRIOR) -> list[Strength]:
    """Strengths with 95 % percentile intervals over participants and examples, strongest first.

    Each resample draws participants and examples with replacement and weighs a judgement by the product of the two
    counts (Owen 2007). Weakness: it overstates the error where participants agree, and with a handful of participants
    the ends are rough; with one participant only examples are drawn.
    """
    counts, k = _counts(judgements), len(judgements.methods)
    value = _fit(counts, np.ones((1, len(judgements.rows))), prior)[0, :k]
    weights = crossed_weights(judgements, resamples, generator("preferences", seed))
    drawn = _fit(counts, weights, prior)[:, :k]
    low, high = np.quantile(drawn - drawn.mean(1, keepdims=True), [0.025, 0.975], axis=0)
    value = value - value.mean()
    first = np.exp(value) / np.exp(value).sum()
    rows = [Strength(*each) for each in zip(judgements.methods, *map(_floats, (value, low, high, first)), strict=True)]
    return sorted(rows, key=lambda row: -row.value)


def crossed_weights(judgements: Judgements, resamples: int, rng: np.random.Generator) -> Values:
    """How often each judgement is in each resample of participants and of examples, (R,N)."""
    weights = np.ones((resamples, len(judgements.rows)))
    for of_row, names in (
        (judgements.participant, judgements.participants),
        (judgements.example, judgements.examples),
    ):
        if len(names) > 1:
            weights *= rng.multinomial(len(names), np.full(len(names), 1 / len(names)), resamples)[:, of_row]
    return weights


def _counts(judgements: Judgements) -> _Counts:
    ranks, k = judgements.ranks, len(judgements.methods)
    if k > MAX_METHODS:
        raise InputError(f"{k} methods were compared; the model of rankings with ties takes at most {MAX_METHODS}")
    stages = [_stages(row) for row in ranks]
    sizes = sorted({len(best) for row in stages for best, _ in row} - {1})
    sets = [s for size in (1, *sizes) for s in combinations(range(k), size)]
    features = np.array([_features(s, k, sizes) for s in sets])
    pools = sorted({pool for row in stages for _, pool in row})
    inside = np.array([[set(s) <= set(pool) for s in sets] for pool in pools], np.float64).reshape(-1, len(sets))
    place = {pool: i for i, pool in enumerate(pools)}
    chosen, times = np.zeros((len(ranks), k + len(sizes))), np.zeros((len(ranks), len(pools)))
    for n, row in enumerate(stages):
        for best, pool in row:
            chosen[n] += _features(best, k, sizes)
            times[n, place[pool]] += 1
    return _Counts(features, inside, chosen, times)


def _stages(row: Values) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The choices of one ranking: (the best, what they were chosen from); a last one alone is no choice."""
    shown = [int(i) for i in np.flatnonzero(np.isfinite(row))]
    out = []
    for rank in sorted({row[i] for i in shown}):
        pool = tuple(i for i in shown if row[i] >= rank)
        if len(pool) > 1:
            out.append((tuple(i for i in pool if row[i] == rank), pool))
    return out


def _features(chosen: Sequence[int], k: int, sizes: Sequence[int]) -> Values:
    out = np.zeros(k + len(sizes))
    out[list(chosen)] = 1 / len(chosen)
    if len(chosen) > 1:
        out[k + list(sizes).index(len(chosen))] = 1.0
    return out


def _fit(counts: _Counts, weights: Values, prior: float) -> Values:
    """The parameters with the highest posterior for each row of weights (R,N), by Newton's method: (R,P).

    The log likelihood is concave; a prior of 0 is maximum likelihood.
    """
    chosen, times = weights @ counts.chosen, weights @ counts.stages  # (R,P), (R,A)
    out = np.zeros_like(chosen)
    ridge = np.full(out.shape[1], prior or 1e-12)  # which fixes the origin of the strengths: the rankings do not
    for _ in range(STEPS):
        gradient, curvature = _slopes(counts, chosen, times, out, ridge)
        step = np.linalg.solve(curvature, gradient[..., None])[..., 0]
        step *= np.minimum(1.0, 2.0 / np.maximum(np.abs(step).max(1, keepdims=True), 1e-300))  # a far start overshoots
        out += step
        if np.abs(step).max() < CLOSE:
            break
    return out


def _slopes(counts: _Counts, chosen: Values, times: Values, at: Values, ridge: Values) -> tuple[Values, Values]:
    """Gradient (R,P) of the log posterior, and minus its second derivatives (R,P,P)."""
    score = at @ counts.features.T
    score = np.exp(score - score.max(1, keepdims=True))  # (R,T)
    total = score @ counts.inside.T  # (R,A)
    share = (times / total) @ counts.inside * score  # (R,T): expected choices of each set
    mean = (score[:, None] * counts.inside) @ counts.features / total[..., None]  # (R,A,P)
    gradient = chosen - share @ counts.features - ridge * at
    second = np.einsum("rt,tp,tq->rpq", share, counts.features, counts.features, optimize=True)
    curvature = second - np.einsum("ra,rap,raq->rpq", times, mean, mean, optimize=True) + np.diag(ridge)
    return gradient, curvature


def _floats(values: NDArray[np.float64]) -> list[float]:
    return [float(value) for value in values]
