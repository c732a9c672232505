"""Area under the precision-recall curve against a rationale (ERASER)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.core.metric_facts import MetricFacts
from assay.core.types import Attribution, Example
from assay.evaluation.attribution_metric import Words, scores_and_truth


@dataclass(frozen=True)
class Auprc:
    """average precision: the mean over rationale units of the precision at their rank, ties taken together.

    Random scores: about the share of rationale units. Weakness: what people find convincing need not be what the model
    used.
    """

    words: Words = "none"
    facts: ClassVar[MetricFacts] = MetricFacts(better="higher", range="0 .. 1", rationales=True)

    def measure(self, attribution: Attribution, example: Example) -> float | None:
        pair = scores_and_truth(attribution, example, self.words)
        if pair is None:
            return None
        scores, truth = pair
        levels = np.unique(scores)[::-1]  # a threshold at each distinct score
        hits = np.array([truth[scores >= level].sum() for level in levels])
        sizes = np.array([(scores >= level).sum() for level in levels])
        return float((np.diff(hits, prepend=0) / truth.sum() * hits / sizes).sum())
