"""Token F1 against a rationale (ERASER)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from assay.core.metric_facts import MetricFacts
from assay.core.types import Attribution, Example
from assay.evaluation.attribution_metric import Words, descending_order, scores_and_truth


@dataclass(frozen=True)
class TokenF1:
    """F1 of the chosen units, per example: the top `share` of the units, or as many as the rationale has (share=None).

    Weakness: depends on how many units are chosen; what people find convincing need not be what the model used.
    """

    share: float | None = None
    words: Words = "none"
    facts: ClassVar[MetricFacts] = MetricFacts(better="higher", range="0 .. 1", rationales=True)

    def measure(self, attribution: Attribution, example: Example) -> float | None:
        pair = scores_and_truth(attribution, example, self.words)
        if pair is None:
            return None
        scores, truth = pair
        chosen = int(truth.sum()) if self.share is None else max(1, math.ceil(self.share * len(truth)))
        hits = truth[descending_order(scores)[:chosen]].sum()
        return float(2 * hits / (chosen + truth.sum()))
