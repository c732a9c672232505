"""What a search maximises: any metric that is a weighted sum of values of kept or removed prefixes of an order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from assay.core.errors import SpecError, nearest
from assay.core.metric_facts import MetricFacts
from assay.core.spec import Spec, parse
from assay.core.types import Bools, Scale
from assay.faithfulness import FAITHFULNESS
from assay.faithfulness.protocol import Ints, Values, get_protocol, prefix_masks

REMOVED, KEPT = 0, 1  # columns of the prefix weights


class SearchObjective(Protocol):
    """The part of a faithfulness metric that a search needs."""

    @property
    def facts(self) -> MetricFacts: ...

    def keeps(self, order: Ints) -> Bools: ...

    def measure(self, values: Values, value_full: float) -> float: ...


@dataclass(frozen=True)
class PrefixSum:
    """Sum over the prefixes S of an order of v(S kept) - v(x), of v(x) - v(S removed), or of both (Solvex).

    The last prefix, the whole input, is left out: it adds the same to every order.
    """

    kept: bool
    removed: bool
    facts: ClassVar[MetricFacts] = MetricFacts(better="higher", range="any number")

    def keeps(self, order: Ints) -> Bools:
        sizes = list(range(1, len(order)))
        sides = [kept for kept, included in ((True, self.kept), (False, self.removed)) if included]
        return np.vstack([prefix_masks(order, sizes, kept=kept) for kept in sides])

    def measure(self, values: Values, value_full: float) -> float:
        gain = values - value_full
        half = len(gain) // 2 if self.kept and self.removed else len(gain) * self.kept
        return float(gain[:half].sum() - gain[half:].sum())


SOLVEX = {"comp_suff": PrefixSum(True, True), "comp": PrefixSum(False, True), "suff": PrefixSum(True, False)}


def canonical(objective: str | Spec) -> str | Spec:
    """One spelling per objective, so that each has one hash: a word, or a Spec with parameters."""
    if isinstance(objective, str) and objective.replace("-", "_") in SOLVEX:
        return objective.replace("-", "_")  # the paper writes comp-suff
    spec = parse(objective) if isinstance(objective, str) else objective
    if spec.name not in FAITHFULNESS.names:
        raise SpecError(f"unknown objective {spec.name!r}; {nearest(spec.name, [*SOLVEX, *FAITHFULNESS.names])}")
    prefix_weights(FAITHFULNESS.make(spec), 4)  # raises if a search cannot optimise it
    return spec if spec.params or spec.args else spec.name


def objective_of(name: str | Spec) -> SearchObjective:
    """The metric of a canonical name."""
    objective: SearchObjective = SOLVEX[name] if isinstance(name, str) and name in SOLVEX else FAITHFULNESS.make(name)
    return objective


def scale_of(name: str | Spec) -> Scale:
    """The scale of the objective's metric; probability for the objectives of Solvex."""
    if isinstance(name, str) and name in SOLVEX:
        return "probability"
    metric: Any = FAITHFULNESS.make(name)
    scale: Scale = metric.facts.scale or get_protocol(metric.protocol).scale
    return scale


def prefix_weights(metric: SearchObjective, n: int) -> Values:
    """(n,2) how much v(first c units removed) and v(first c units kept) add to the metric; higher is better.

    Row 0 stands for the whole and the empty input. The weights are derived from `measure`, so a metric needs no second
    definition.
    """
    count, side = _prefixes(metric, n)
    zero = np.zeros(len(count))
    start = metric.measure(zero, 0.0) if len(count) else 0.0
    weight = np.array([metric.measure(row, 0.0) - start for row in np.eye(len(count))])
    trial = np.cos(np.arange(len(count)))  # arbitrary values
    if len(count) and not np.isclose(metric.measure(trial, 0.3), weight @ trial + metric.measure(zero, 0.3)):
        raise SpecError(f"{_name(metric)} is not a weighted sum of its values, so a search cannot optimise it")
    out = np.zeros((max(n, 1), 2))
    np.add.at(out, (count, side), weight if metric.facts.better == "higher" else -weight)
    return out


def _prefixes(metric: SearchObjective, n: int) -> tuple[Ints, Ints]:
    """For each mask of the metric: the size of its prefix, and whether it is kept or removed."""
    order = np.roll(np.arange(n)[::-1], n // 2)  # neither ascending nor descending, to expose masks of fixed positions
    keep = metric.keeps(order)[:, order]  # (M,U), columns in the given order
    side = keep[:, 0].astype(np.int64)
    count = (keep == keep[:, :1]).sum(1)
    whole = count == n
    side[whole], count[whole] = 1 - side[whole], 0  # all kept = none removed, and vice versa
    expected = (np.arange(n) < count[:, None]) == (side[:, None] == KEPT)
    if not np.array_equal(keep, expected):
        raise SpecError(f"{_name(metric)} needs other masks than prefixes of an order, so a search cannot optimise it")
    return count, side


def _name(metric: SearchObjective) -> str:
    return str(Spec.of(metric, full=False))
