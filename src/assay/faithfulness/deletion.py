"""Deletion: area under the deletion curve (Petsiuk et al. 2018)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from scipy.integrate import trapezoid

from assay.core.metric_facts import MetricFacts
from assay.core.types import Bools
from assay.faithfulness.protocol import Ints, Values, prefix_masks


@dataclass(frozen=True)
class Deletion:
    """area under v while units are removed one by one, most important first; trapezoids over the share removed.

    Weakness: most of the curve lies on texts that are nearly empty.
    """

    protocol: str = "eraser"
    facts: ClassVar[MetricFacts] = MetricFacts(better="lower", range="0 .. 1 for a probability")

    def keeps(self, order: Ints) -> Bools:
        return prefix_masks(order, list(range(len(order) + 1)), kept=False)

    def curve(self, values: Values, value_full: float) -> Values:
        return values

    def measure(self, values: Values, value_full: float) -> float:
        return float(trapezoid(values, dx=1 / (len(values) - 1)))
