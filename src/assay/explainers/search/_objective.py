"""What a search maximises: any metric that is a weighted sum of the values of prefixes of an order, kept or removed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

import numpy as np

from assay.core.errors import SpecError, nearest
from assay.core.spec import Spec, parse
from assay.core.types import Bools, Scale
from assay.faithfulness import FAITHFULNESS
from assay.faithfulness.protocol import Ints, Values, rules, top_masks

REMOVED, KEPT = 0, 1  # columns of weights


class Objective(Protocol):
    """The part of a faithfulness metric that a search needs."""

    better: ClassVar[Literal["higher", "lower"]]

    def keeps(self, order: Ints) -> Bools: ...

    def measure(self, values: Values, value_full: float) -> float: ...


@dataclass(frozen=True)
class Prefixes:
    """Sum over the prefixes S of an order of v(S kept) - v(x) and v(x) - v(S removed), either or both (Solvex).

    The last prefix is the whole input: it adds the same to every order and is left out.
    """

    kept: bool
    removed: bool
    better: ClassVar[Literal["higher", "lower"]] = "higher"

    def keeps(self, order: Ints) -> Bools:
        sizes = list(range(1, len(order)))
        kinds = [kept for kept, wanted in ((True, self.kept), (False, self.removed)) if wanted]
        return np.vstack([top_masks(order, sizes, kept=kept) for kept in kinds])

    def measure(self, values: Values, value_full: float) -> float:
        gain = values - value_full
        half = len(gain) // 2 if self.kept and self.removed else len(gain) * self.kept
        return float(gain[:half].sum() - gain[half:].sum())


SOLVEX = {"comp_suff": Prefixes(True, True), "comp": Prefixes(False, True), "suff": Prefixes(True, False)}


def canonical(objective: str | Spec) -> str | Spec:
    """One spelling of an objective, so that one objective has one hash: a word, or a Spec with parameters."""
    if isinstance(objective, str) and objective.replace("-", "_") in SOLVEX:
        return objective.replace("-", "_")  # comp-suff is the paper's spelling
    spec = parse(objective) if isinstance(objective, str) else objective
    if spec.name not in FAITHFULNESS.names:
        raise SpecError(f"there is no objective {spec.name!r}; {nearest(spec.name, [*SOLVEX, *FAITHFULNESS.names])}")
    prefix_weights(FAITHFULNESS.make(spec), 4)
    return spec if spec.params or spec.args else spec.name


def objective_of(name: str | Spec) -> Objective:
    """The metric behind a canonical name."""
    found: Objective = SOLVEX[name] if isinstance(name, str) and name in SOLVEX else FAITHFULNESS.make(name)
    return found


def scale_of(name: str | Spec) -> Scale:
    """The scale that the objective's metric measures on; a probability for Solvex's own."""
    if isinstance(name, str) and name in SOLVEX:
        return "probability"
    metric: Any = FAITHFULNESS.make(name)
    scale: Scale = metric.scale or rules(metric.protocol).scale
    return scale


def prefix_weights(metric: Objective, n: int) -> Values:
    """(n,2) by how much v(first c units removed) and v(first c units kept) raise the metric; higher is better.

    Row 0 is the whole and the empty input. The weights are read off from `measure`, so a metric needs no second form.
    """
    count, kind = _prefixes(metric, n)
    zero = np.zeros(len(count))
    start = metric.measure(zero, 0.0) if len(count) else 0.0
    weight = np.array([metric.measure(row, 0.0) - start for row in np.eye(len(count))])
    trial = np.cos(np.arange(len(count)))  # any values will do
    if len(count) and not np.isclose(metric.measure(trial, 0.3), weight @ trial + metric.measure(zero, 0.3)):
        raise SpecError(
            f"{_name(metric)} is no weighted sum of its values, so no search can add it up prefix by prefix"
        )
    out = np.zeros((max(n, 1), 2))
    np.add.at(out, (count, kind), weight if metric.better == "higher" else -weight)
    return out


def _prefixes(metric: Objective, n: int) -> tuple[Ints, Ints]:
    """For each mask of the metric how many units its prefix has, and whether it is kept or removed."""
    order = np.roll(np.arange(n)[::-1], n // 2)  # neither forwards nor backwards: a mask of fixed places would show
    keep = metric.keeps(order)[:, order]  # (M,U) in the order's own order
    kind = keep[:, 0].astype(np.int64)
    count = (keep == keep[:, :1]).sum(1)
    whole = count == n
    kind[whole], count[whole] = 1 - kind[whole], 0  # all kept = no unit removed, and the other way round
    expected = (np.arange(n) < count[:, None]) == (kind[:, None] == KEPT)
    if not np.array_equal(keep, expected):
        raise SpecError(f"{_name(metric)} asks for more than prefixes of an order, so no search can optimise it")
    return count, kind


def _name(metric: Objective) -> str:
    return str(Spec.of(metric, full=False))
