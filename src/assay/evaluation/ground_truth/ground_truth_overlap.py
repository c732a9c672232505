"""Ground-truth overlap (the thesis's GTO)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.core.metric_facts import MetricFacts
from assay.core.types import Attribution, Example
from assay.evaluation.attribution_metric import descending_order, scores_and_truth


@dataclass(frozen=True)
class GroundTruthOverlap:
    """|top k of the scores that are true| / k, k = the number of true units.

    For one cue: 1 if it is ranked first, else 0. Random scores have E[k/n]. Weakness: says nothing below the top k.
    """

    facts: ClassVar[MetricFacts] = MetricFacts(better="higher", range="0 .. 1")

    def measure(self, attribution: Attribution, example: Example) -> float | None:
        found = scores_and_truth(attribution, example)
        if found is None:
            return None
        scores, truth = found
        return float(truth[descending_order(scores)[: truth.sum()]].mean())
