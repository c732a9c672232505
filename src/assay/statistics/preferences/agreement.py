"""Do participants agree with each other, and with themselves? Each against random order."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from assay.core.optional import optional
from assay.core.rng import generator
from assay.statistics.bootstrap import Interval, Values, interval
from assay.statistics.preferences.judgement import Judgement, Judgements
from assay.statistics.preferences.verdict_words import with_bounds


@dataclass(frozen=True, slots=True)
class Agreement:
    """A measure of agreement with its 95 % interval over examples, and the same for rankings in random order."""

    name: str
    value: float
    low: float
    high: float
    n: int  # examples (or repeated items) that it is computed from
    random: float
    random_high: float  # 97.5 % of random orders are below
    p: float  # share of random orders that agree at least as much

    @property
    def sentence(self) -> str:
        name = self.name[0].upper() + self.name[1:]
        if math.isnan(self.value):
            return f"{name}: undefined, because no example was judged twice or all ranks are ties."
        above = "above" if self.p <= 0.05 else "not above"
        return (
            f"{name} {with_bounds(self.value, self.low, self.high)}, {above} that of random order "
            f"({self.random:.2f}, p = {self.p:.2g}, n = {self.n})."
        )


def krippendorff_alpha(judgements: Judgements, *, resamples: int = 1000, seed: int = 0) -> Agreement:
    """Krippendorff's alpha for ranks (ordinal): 1 full agreement, 0 that of chance. Units: methods of an example."""
    library = optional("krippendorff", "study")
    domain = np.arange(1, len(judgements.methods) + 1)

    def alpha(ranks: Values, examples: NDArray[np.int64]) -> float:
        counts = _counts(judgements, ranks, domain)[examples].reshape(-1, len(domain))
        counts = counts[counts.sum(1) > 1]
        if len(counts) == 0 or (counts.sum(0) > 0).sum() < 2:
            return math.nan
        return float(library.alpha(value_counts=counts, value_domain=domain, level_of_measurement="ordinal"))

    return _against_random("Krippendorff's alpha", judgements, alpha, resamples, seed)


def kendall_w(judgements: Judgements, *, resamples: int = 1000, seed: int = 0) -> Agreement:
    """Kendall's W of the participants of each example, corrected for ties, mean over examples; 1 full agreement.

    W = 12 S / (m² (k³ - k) - m ΣT), S the squared deviations of the rank sums, T = Σ (t³ - t) of each ranking's ties.
    Random order gives about 1 / m. Only participants who ranked the same methods of an example are compared.
    """
    groups = _same_methods(judgements)

    def mean_w(ranks: Values, examples: NDArray[np.int64]) -> float:
        values = _w_by_example(ranks, groups)[examples]
        return float(np.nanmean(values)) if np.isfinite(values).any() else math.nan

    return _against_random("Kendall's W", judgements, mean_w, resamples, seed)


def self_agreement(pairs: Sequence[tuple[Judgement, Judgement]], *, draws: int = 1000, seed: int = 0) -> Agreement:
    """Repeated items: the share of pairs of methods that a participant ordered alike (or tied) both times."""
    name = "self-agreement"
    if not pairs:
        return Agreement(name, math.nan, math.nan, math.nan, 0, math.nan, math.nan, math.nan)
    own = interval([_same_order(first.ranks, again.ranks) for first, again in pairs], kind="percentile", seed=seed)
    rng = generator("self-agreement", seed)
    random = [float(np.mean([_same_order(a.ranks, _shuffled(b, rng)) for a, b in pairs])) for _ in range(draws)]
    return _agreement(name, own, len(pairs), random)


def _same_order(a: Mapping[str, int], b: Mapping[str, int]) -> float:
    pairs = list(combinations(sorted(a), 2))
    return float(np.mean([np.sign(a[x] - a[y]) == np.sign(b[x] - b[y]) for x, y in pairs]))


def _shuffled(judgement: Judgement, rng: np.random.Generator) -> dict[str, int]:
    ranks = list(judgement.ranks.values())
    return {method: ranks[i] for method, i in zip(judgement.ranks, rng.permutation(len(ranks)), strict=True)}


# --- shared by alpha and W -------------------------------------------------------------------------------------------

Measure = Callable[[Values, NDArray[np.int64]], float]  # ranks (N,K) and the examples to use -> agreement


def _against_random(name: str, judgements: Judgements, measure: Measure, resamples: int, seed: int) -> Agreement:
    """The measure, its bootstrap interval over examples, and its distribution for rankings in random order."""
    rng, everything = generator("agreement", seed), np.arange(len(judgements.examples))
    value = measure(judgements.ranks, everything)
    if math.isnan(value):
        return Agreement(name, value, math.nan, math.nan, 0, math.nan, math.nan, math.nan)
    n = int((np.bincount(judgements.example) > 1).sum())
    drawn = [measure(judgements.ranks, rng.integers(0, len(everything), len(everything))) for _ in range(resamples)]
    low, high = np.nanquantile(drawn, [0.025, 0.975]) if n > 1 else (math.nan, math.nan)
    random = [measure(_random_order(judgements.ranks, rng), everything) for _ in range(resamples)]
    return _agreement(name, Interval(value, float(low), float(high), n), n, random)


def _agreement(name: str, own: Interval, n: int, random: Sequence[float]) -> Agreement:
    drawn = np.array(random)
    p = float((1 + (drawn >= own.value - 1e-12).sum()) / (1 + len(drawn)))
    return Agreement(
        name, own.value, own.low, own.high, n, float(np.nanmean(drawn)), float(np.nanquantile(drawn, 0.975)), p
    )


def _random_order(ranks: Values, rng: np.random.Generator) -> Values:
    """Every ranking with its own ranks, ties and missing methods, in random order."""
    shown = np.isfinite(ranks)
    keys = np.where(shown, rng.random(ranks.shape), np.inf)
    out = np.full_like(ranks, np.nan)
    order, own = np.argsort(keys, axis=1), np.sort(ranks, axis=1)  # both put missing methods last
    np.put_along_axis(out, order, own, axis=1)
    return out


def _counts(judgements: Judgements, ranks: Values, domain: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many participants gave each rank to each method of each example, (E,K,R)."""
    counts = np.zeros((len(judgements.examples), ranks.shape[1], len(domain)), np.int64)
    row, method = np.nonzero(np.isfinite(ranks))
    np.add.at(counts, (judgements.example[row], method, ranks[row, method].astype(int) - 1), 1)
    return counts


def _same_methods(judgements: Judgements) -> list[list[list[int]]]:
    """For each example, the rows of judgements that ranked the same methods, where there are two or more."""
    groups: list[dict[bytes, list[int]]] = [{} for _ in judgements.examples]
    for row, example in enumerate(judgements.example):
        groups[example].setdefault(np.isfinite(judgements.ranks[row]).tobytes(), []).append(row)
    return [[rows for rows in group.values() if len(rows) > 1] for group in groups]


def _w_by_example(ranks: Values, groups: Sequence[Sequence[Sequence[int]]]) -> Values:
    return np.array([_mean([_w(ranks[list(rows)]) for rows in group]) for group in groups])


def _mean(values: Sequence[float]) -> float:
    finite = [value for value in values if math.isfinite(value)]
    return float(np.mean(finite)) if finite else math.nan


def _w(ranks: Values) -> float:
    """Kendall's W of (m,k) competition ranks, which become average ranks."""
    shown = ranks[:, np.isfinite(ranks[0])]
    m, k = shown.shape
    below = (shown[:, :, None] > shown[:, None, :]).sum(2)
    equal = (shown[:, :, None] == shown[:, None, :]).sum(2)
    average = below + (equal + 1) / 2
    squares = ((average.sum(0) - m * (k + 1) / 2) ** 2).sum()
    ties = (equal**2 - 1).sum()  # each of t tied methods adds t² - 1: t³ - t in all
    most = m**2 * (k**3 - k) - m * ties
    return float(12 * squares / most) if most > 0 else math.nan
