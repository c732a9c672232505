"""Insertion: area under the insertion curve (Petsiuk et al. 2018)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from scipy.integrate import trapezoid

from assay.core.metric_facts import MetricFacts
from assay.core.types import Bools
from assay.faithfulness.protocol import Ints, Values, prefix_masks


@dataclass(frozen=True)
class Insertion:
    """area under v while units are restored one by one, most important first; trapezoids over the share restored.

    Weakness: most of the curve lies on texts that are nearly empty.
    """

    protocol: str = "eraser"
    facts: ClassVar[MetricFacts] = MetricFacts(better="higher", range="0 .. 1 for a probability")

    def keeps(self, order: Ints) -> Bools:
        return prefix_masks(order, list(range(len(order) + 1)), kept=True)

    def curve(self, values: Values, value_full: float) -> Values:
        return values

    def measure(self, values: Values, value_full: float) -> float:
        return float(trapezoid(values, dx=1 / (len(values) - 1)))
