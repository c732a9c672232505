"""Mean rank percentage (called mean rank in the figures of the thesis)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.core.metric_facts import MetricFacts
from assay.core.types import Attribution, Example
from assay.evaluation.attribution_metric import descending_order, scores_and_truth


@dataclass(frozen=True)
class MeanRankPercentage:
    """mean rank divided by the number of units.

    For a single cue: E[1/n] at best, E[(n+1)/2n] for random scores.
    Weakness: determined by the lowest-ranked true unit.
    """

    facts: ClassVar[MetricFacts] = MetricFacts(better="lower", range="0 .. 1", rationales=True)

    def measure(self, attribution: Attribution, example: Example) -> float | None:
        pair = scores_and_truth(attribution, example)
        if pair is None:
            return None
        scores, truth = pair
        return float((truth[descending_order(scores)].nonzero()[0].max() + 1) / len(scores))
