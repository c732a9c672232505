"""Probability change: the effect of an attack on the prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.core.errors import InputError
from assay.core.metric_facts import MetricFacts
from assay.core.types import Attribution


@dataclass(frozen=True)
class ProbabilityChange:
    """m(x) - m(x + delta), m = probability of the class predicted on x (regression: the output). Signed.

    Weakness: near 0 and 1, large changes of the logits hardly change it.
    """

    facts: ClassVar[MetricFacts] = MetricFacts(better="lower", range="-1 .. 1")

    def compare(self, first: Attribution, second: Attribution) -> float:
        """`first` is the original, `second` the attacked."""
        return _probability(first) - _probability(second)


def _probability(attribution: Attribution) -> float:
    probability = attribution.extra.get("probability")
    if probability is None and attribution.target.scale in ("probability", "raw"):
        probability = attribution.value_full
    if probability is None:
        raise InputError("the attribution has no probability; explain with Target(scale='probability')")
    return float(probability)
