"""Mean rank (Bastings et al. 2022)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.core.metric_facts import MetricFacts
from assay.core.types import Attribution, Example
from assay.evaluation.attribution_metric import descending_order, scores_and_truth


@dataclass(frozen=True)
class MeanRank:
    """the smallest r such that all true units are within the top r.

    Weakness: depends on the length of the text; determined by the lowest-ranked true unit.
    """

    facts: ClassVar[MetricFacts] = MetricFacts(better="lower", range="1 .. n", rationales=True, margin=0.5)

    def measure(self, attribution: Attribution, example: Example) -> float | None:
        pair = scores_and_truth(attribution, example)
        if pair is None:
            return None
        scores, truth = pair
        return float(truth[descending_order(scores)].nonzero()[0].max() + 1)
