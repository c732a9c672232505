"""Area under the ROC curve against a rationale."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from scipy.stats import rankdata

from assay.core.metric_facts import MetricFacts
from assay.core.types import Attribution, Example
from assay.evaluation.attribution_metric import Part, Words, of_part, scores_and_truth


@dataclass(frozen=True)
class Auc:
    """the probability that a rationale unit scores above another unit, ties counting half.

    words=sum or max joins tokens to words first; part=text or text_pair counts the units of one text of a pair only.
    Random scores: 0.5. Weakness: what people find convincing need not be what the model used.
    """

    words: Words = "none"
    part: Part = field(default="all", metadata={"unsaid": "all"})
    facts: ClassVar[MetricFacts] = MetricFacts(better="higher", range="0 .. 1", rationales=True)

    def measure(self, attribution: Attribution, example: Example) -> float | None:
        pair = scores_and_truth(of_part(attribution, self.part), example, self.words)
        if pair is None or pair[1].all():
            return None
        scores, truth = pair
        ranks = rankdata(scores)
        positives = truth.sum()
        below = ranks[truth].sum() - positives * (positives + 1) / 2
        return float(below / (positives * (len(truth) - positives)))
