"""Ground-truth overlap (GTO in the thesis)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.core.metric_facts import MetricFacts
from assay.core.types import Attribution, Example
from assay.evaluation.attribution_metric import descending_order, scores_and_truth


@dataclass(frozen=True)
class GroundTruthOverlap:
    """|top k of the scores that are true| / k, k = the number of true units.

    For a single cue: 1 if it is ranked first, else 0. Random scores: E[k/n]. Weakness: ignores ranks below the top k.
    """

    facts: ClassVar[MetricFacts] = MetricFacts(better="higher", range="0 .. 1", rationales=True)

    def measure(self, attribution: Attribution, example: Example) -> float | None:
        pair = scores_and_truth(attribution, example)
        if pair is None:
            return None
        scores, truth = pair
        return float(truth[descending_order(scores)[: truth.sum()]].mean())
