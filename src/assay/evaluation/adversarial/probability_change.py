"""Probability change: what an attack on the explanation did to the prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.core.errors import InputError
from assay.core.metric_facts import MetricFacts
from assay.core.types import Attribution


@dataclass(frozen=True)
class ProbabilityChange:
    """m(x) - m(x + delta), m = probability of the class predicted on x (regression: the output). Signed.

    Weakness: near 0 and 1 large changes of the logits leave it still.
    """

    facts: ClassVar[MetricFacts] = MetricFacts(better="lower", range="-1 .. 1")

    def compare(self, first: Attribution, second: Attribution) -> float:
        """`first` is the original, `second` the attacked."""
        return _probability(first) - _probability(second)


def _probability(attribution: Attribution) -> float:
    found = attribution.extra.get("probability")
    if found is None and attribution.target.scale in ("probability", "raw"):
        found = attribution.value_full
    if found is None:
        raise InputError("this attribution knows no probability; explain with Target(scale='probability')")
    return float(found)
