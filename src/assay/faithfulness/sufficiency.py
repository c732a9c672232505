"""Sufficiency (DeYoung et al. 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.core.metric_facts import MetricFacts
from assay.core.types import Bools
from assay.faithfulness.protocol import Ints, Values, fraction_counts, fraction_mean, prefix_masks


@dataclass(frozen=True)
class Sufficiency:
    """mean over fractions k of v(x) - v(only the top k).

    The protocol sets the fractions. `aopc=True` uses 1, 5, 10, 20 and 50 % under every protocol (AOPC); under the
    default protocol, eraser, both are the same.
    Weakness: the kept tokens are not a real text; if the model predicts the class from an empty text, every method
    looks sufficient.
    """

    protocol: str = "eraser"
    aopc: bool = False
    facts: ClassVar[MetricFacts] = MetricFacts(better="lower", range="-1 .. 1; near 0 when the kept tokens suffice")

    def keeps(self, order: Ints) -> Bools:
        counts = fraction_counts(self.protocol, len(order), aopc=self.aopc)
        # a fraction of less than one token keeps the whole text, so its difference is 0
        return prefix_masks(order, [count or len(order) for count in counts], kept=True)

    def curve(self, values: Values, value_full: float) -> Values:
        return value_full - values

    def measure(self, values: Values, value_full: float) -> float:
        return fraction_mean(self.curve(values, value_full), self.protocol, aopc=self.aopc)
