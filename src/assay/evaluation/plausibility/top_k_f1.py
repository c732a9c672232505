"""Top-k F1 against a rationale (the AML paper: k = 25)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from assay.core.metric_facts import MetricFacts
from assay.core.types import Attribution, Example
from assay.evaluation.attribution_metric import Words, descending_order, scores_and_truth


@dataclass(frozen=True)
class TopKF1:
    """F1 of the k units with the highest scores: 2 hits / (chosen + true); macro: mean over examples, micro: pooled.

    Weakness: one k does not suit both short and long texts or rationales.
    """

    k: int = 25
    words: Words = "none"
    average: Literal["macro", "micro"] = "macro"
    facts: ClassVar[MetricFacts] = MetricFacts(better="higher", range="0 .. 1", rationales=True)

    def measure(self, attribution: Attribution, example: Example) -> float | None:
        counts = self.counts(attribution, example)
        return None if counts is None else 2 * counts[0] / (counts[1] + counts[2])

    def weight(self, attribution: Attribution, example: Example) -> float | None:
        """The weight of the example in the mean; weighted by chosen plus true units, the mean is the pooled F1."""
        counts = self.counts(attribution, example)
        return None if counts is None else 1.0 if self.average == "macro" else float(counts[1] + counts[2])

    def counts(self, attribution: Attribution, example: Example) -> tuple[int, int, int] | None:
        """The numbers of hits, chosen and true units."""
        pair = scores_and_truth(attribution, example, self.words)
        if pair is None:
            return None
        scores, truth = pair
        top = descending_order(scores)[: self.k]
        return int(truth[top].sum()), len(top), int(truth.sum())
