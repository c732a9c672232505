"""A criterion: a faithfulness metric, or the difference of two, by which explanations are chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from assay.core.errors import SpecError, nearest
from assay.core.spec import Spec, parse
from assay.core.types import Target
from assay.faithfulness import FAITHFULNESS
from assay.faithfulness.measuring import measured_orders, metric_removal
from assay.faithfulness.protocol import Ints, get_protocol
from assay.masking.game import Game
from assay.models.encoding import Encoding
from assay.models.model import Model

MINUS = " - "


@dataclass(frozen=True)
class Criterion:
    """A metric, or a metric minus one that is better where the first is worse."""

    name: str
    first: Any
    second: Any = None

    @property
    def better(self) -> Literal["higher", "lower"]:
        better: Literal["higher", "lower"] = self.first.facts.better
        return better

    @property
    def sign(self) -> int:
        """1 if a higher value is better, else -1."""
        return 1 if self.better == "higher" else -1

    def values(
        self,
        model: Model,
        encodings: Sequence[Encoding],
        full: NDArray[Any],
        orders: Sequence[Sequence[Ints]],
        targets: Sequence[Target],
        budget: int,
    ) -> list[NDArray[np.float64]]:
        """The value of each order of the units of each example."""
        games: dict[Any, Game] = {}
        total = [np.zeros(len(of_example)) for of_example in orders]
        for metric, weight in ((self.first, 1), (self.second, -1)):
            if metric is None:
                continue
            removal = metric_removal(model, metric)
            game = games.setdefault(removal, Game(model, encodings, removal, budget))
            for sums, found in zip(total, measured_orders(game, full, orders, targets, metric), strict=True):
                sums += weight * np.array(found)
        return total


def criterion_of(text: str, protocol: str = "eraser") -> Criterion:
    """ "comprehensiveness", "log_odds(protocol=aml)" or "comprehensiveness - sufficiency" as a criterion."""
    parts = [part.strip() for part in text.split(MINUS)]
    if len(parts) > 2:
        raise SpecError(f"metric={text!r} has more than two metrics; give one, or the difference of two")
    first, *rest = [_metric(part, protocol) for part in parts]
    second = rest[0] if rest else None
    if second is not None and second.facts.better == first.facts.better:
        raise SpecError(
            f"metric={text!r}: both are better when {first.facts.better}, so their difference says nothing; "
            "subtract a metric that is better in the other direction, as in 'comprehensiveness - sufficiency'"
        )
    names = [str(Spec.of(metric, full=False)) for metric in (first, second) if metric is not None]
    return Criterion(MINUS.join(names), first, second)


def _metric(text: str, protocol: str) -> Any:
    spec = parse(text)
    if spec.name not in FAITHFULNESS.names:
        raise SpecError(
            f"metric={spec.name!r} is not a faithfulness metric, which needs no labels or rationales; "
            f"{nearest(spec.name, FAITHFULNESS.names)}"
        )
    metric = FAITHFULNESS.make(spec)
    named = bool(spec.args) or any(key == "protocol" for key, _ in spec.params)
    metric = metric if named else replace(metric, protocol=protocol)
    get_protocol(metric.protocol)  # raises if unknown
    return metric
