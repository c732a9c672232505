"""Top-k sum change: how much an attack lowers the scores of the original top k."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.core.metric_facts import MetricFacts
from assay.core.types import Attribution
from assay.evaluation.adversarial._top import SHARE, check_share, ranking, top_k


@dataclass(frozen=True)
class TopKSumChange:
    """sum over the original's top k units of (original score - attacked score), k = max(1, floor(share x units)).

    Weakness: has the unit of the scores, so methods, scales and models cannot be compared.
    """

    share: float = SHARE
    facts: ClassVar[MetricFacts] = MetricFacts(better="lower", range="any number")

    def __post_init__(self) -> None:
        check_share(self.share)

    def compare(self, first: Attribution, second: Attribution) -> float:
        """`first` is the original, `second` the attacked."""
        top = ranking(first)
        top = top[: top_k(len(top), self.share)]
        return float((first.scores[top].astype(float) - second.scores[top].astype(float)).sum())
