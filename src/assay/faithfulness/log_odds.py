"""Log odds (Shrikumar et al. 2017, as used for text)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.core.metric_facts import MetricFacts
from assay.core.types import Bools
from assay.faithfulness.protocol import Ints, Values, fraction_counts, fraction_mean, prefix_masks


@dataclass(frozen=True)
class LogOdds:
    """mean over fractions k of ln p(x with the top k masked) - ln p(x).

    Tokens are always replaced by the mask token, never deleted. The protocol sets the fractions; the AML protocols use
    20 %. Weakness: a single confident example can dominate the mean.
    """

    protocol: str = "eraser"
    facts: ClassVar[MetricFacts] = MetricFacts(
        better="lower", range="-inf .. about 0", removal="mask_token", scale="log_probability"
    )

    def keeps(self, order: Ints) -> Bools:
        return prefix_masks(order, fraction_counts(self.protocol, len(order)), kept=False)

    def curve(self, values: Values, value_full: float) -> Values:
        return values - value_full

    def measure(self, values: Values, value_full: float) -> float:
        return fraction_mean(self.curve(values, value_full), self.protocol)
