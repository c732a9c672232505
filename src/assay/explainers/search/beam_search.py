"""Beam search over orders of units, Solvex (Zhou & Shah 2023)."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from assay.core.spec import Spec
from assay.core.types import Bools, Scores
from assay.explainers.protocols import MethodFacts
from assay.explainers.search._objective import KEPT, REMOVED, canonical, objective_of, prefix_weights, scale_of
from assay.faithfulness.protocol import Ints, Values
from assay.masking.flow import Flow

ROUNDING = 1e-6  # relative to the largest value: smaller differences are rounding error, and count as ties


@dataclass(frozen=True)
class BeamSearch:
    """The order (most important first) with the highest sum over its prefixes S of v(S kept) - v(S removed).

    Objectives: comp_suff (that sum), comp (v(x) - v(S removed)), suff (v(S kept) - v(x)), or any faithfulness metric on
    its own scale, e.g. `beam_search(objective=log_odds(protocol=aml))`. Units are removed as the call specifies.
    The rest of an order depends only on the set of its first units, so only the best order of each set is kept, and the
    `beam` best sets of each size are extended by every unit (the authors' package keeps 50 orders). The result is exact
    if no set was dropped, which is reported with the order. Between the sizes that a metric uses, sets are ranked by
    the next one; after the last, units follow by their individual effects. Scores are ranks n-1 .. 0 minus the offset
    in {-0.5, ..., n-0.5} for which most signs agree with v(x) - v(x without i).
    Weakness: finds what the metric rewards, even where the metric is wrong.
    """

    objective: str | Spec = "comp_suff"
    beam: int = 10

    def __post_init__(self) -> None:
        if self.beam < 1:
            raise ValueError("beam must be at least 1")
        object.__setattr__(self, "objective", canonical(self.objective))

    @property
    def facts(self) -> MethodFacts:
        return MethodFacts(
            scale=scale_of(self.objective),
            signed=True,
            complete=False,
            class_dependent=True,
            passes="at most (beam n (n + 1) + n) f",
            memory="beam x n x n masks",
        )

    def flow(self, n: int, rng: np.random.Generator) -> Flow:
        metric = objective_of(self.objective)
        alone = yield np.vstack([~np.eye(n, dtype=bool), np.ones((1, n), bool)])  # (U+1,U)
        equal = ROUNDING * float(np.abs(alone).max())
        effect = alone[-1] - alone[:-1]
        first, exact = yield from self._search(prefix_weights(metric, n), equal)
        order = _completed(first, ranking(effect, equal))
        keep = metric.keeps(order)
        values = (yield keep) if len(keep) else np.zeros(0)  # already computed during the search
        extra = {"order": order.tolist(), "objective_value": metric.measure(values, float(alone[-1])), "exact": exact}
        return Scores(signed_ranks(order, np.where(np.abs(effect) > equal, effect, 0.0)), extra)

    def _search(self, weights: Values, equal: float) -> Generator[Bools, Values, tuple[Ints, bool]]:
        """The best first units, as many as the objective uses, and whether no set was dropped."""
        used_sizes = [size for size in range(1, len(weights)) if weights[size].any()]
        beam, exact = _Beam.start(len(weights)), True
        for size in range(1, max(used_sizes, default=0) + 1):
            beam = beam.extended(equal)
            ahead = next(s for s in used_sizes if s >= size)
            gain = yield from _gain(beam.sets, weights[ahead])
            best = ranking(beam.totals + gain, equal * np.abs(weights[ahead]).max())[: self.beam]
            exact = exact and len(best) == len(gain)
            beam = beam.take(best, gain if ahead == size else np.zeros(len(gain)))
        return beam.orders[0], exact


@dataclass(frozen=True)
class _Beam:
    """Sets of one size, each with its best order and the gain so far; the most promising first."""

    sets: Bools  # (K,U)
    totals: Values  # (K,)
    orders: Ints  # (K,size)

    @staticmethod
    def start(n: int) -> _Beam:
        return _Beam(np.zeros((1, n), bool), np.zeros(1), np.zeros((1, 0), np.int64))

    def extended(self, equal: float) -> _Beam:
        """Every distinct set with one more unit; where several orders lead to it, the one with the highest total."""
        parent, unit = np.nonzero(~self.sets)
        sets = self.sets[parent]
        sets[np.arange(len(unit)), unit] = True
        best_first = ranking(self.totals[parent], equal)
        packed = np.packbits(sets, axis=1)[best_first]
        _, first = np.unique(packed.view(f"V{packed.shape[1]}").ravel(), return_index=True)
        chosen = best_first[np.sort(first)]  # sorted: ties go to earlier units
        orders = np.hstack([self.orders[parent[chosen]], unit[chosen, None]])
        return _Beam(sets[chosen], self.totals[parent[chosen]], orders)

    def take(self, rows: Ints, gain: Values) -> _Beam:
        return _Beam(self.sets[rows], (self.totals + gain)[rows], self.orders[rows])


def _gain(sets: Bools, weight: Values) -> Generator[Bools, Values, Values]:
    """(K,) what each set adds to the objective; requests only masks with a weight."""
    parts = [(weight[kind], mask) for kind, mask in ((REMOVED, ~sets), (KEPT, sets)) if weight[kind]]
    values = yield np.vstack([mask for _, mask in parts])
    gain: Values = np.array([w for w, _ in parts]) @ values.reshape(len(parts), -1)
    return gain


def ranking(values: Values, equal: float) -> Ints:
    """Indices from the highest value to the lowest; values within `equal` of the next keep their original order."""
    order = np.argsort(-values, kind="stable")
    tier = np.concatenate([[0], np.cumsum(-np.diff(values[order]) > equal)])
    return order[np.lexsort((order, tier))]


def _completed(first: Ints, others: Ints) -> Ints:
    """The complete order: the first units, then the others in their order."""
    return np.concatenate([first, others[~np.isin(others, first)]])


def signed_ranks(order: Ints, effect: Values) -> Values:
    """Ranks n-1 .. 0 of an order minus the (smallest) offset for which most signs match those of the effects."""
    n = len(order)
    rank = np.empty(n)
    rank[order] = np.arange(n)[::-1]
    shifted = rank - (np.arange(n + 1) - 0.5)[:, None]  # (n+1,U)
    agree = (np.sign(shifted) == np.sign(effect)).sum(1)
    best: Values = shifted[agree.argmax()]
    return best
