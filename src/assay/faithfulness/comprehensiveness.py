"""Comprehensiveness (DeYoung et al. 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.core.metric_facts import MetricFacts
from assay.core.types import Bools
from assay.faithfulness.protocol import Ints, Values, fraction_counts, fraction_mean, prefix_masks


@dataclass(frozen=True)
class Comprehensiveness:
    """mean over fractions k of v(x) - v(x without the top k).

    The protocol sets the fractions. `aopc=True` uses 1, 5, 10, 20 and 50 % under every protocol (AOPC); under the
    default protocol, eraser, both are the same.
    Weakness: the remaining text is out of distribution; redundant evidence keeps the value low for every method.
    """

    protocol: str = "eraser"
    aopc: bool = False
    facts: ClassVar[MetricFacts] = MetricFacts(
        better="higher", range="-1 .. 1; near v(x) - v(nothing) when all evidence is found"
    )

    def keeps(self, order: Ints) -> Bools:
        return prefix_masks(order, fraction_counts(self.protocol, len(order), aopc=self.aopc), kept=False)

    def curve(self, values: Values, value_full: float) -> Values:
        return value_full - values

    def measure(self, values: Values, value_full: float) -> float:
        return fraction_mean(self.curve(values, value_full), self.protocol, aopc=self.aopc)
