"""Overlap of two methods' top k units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.core.metric_facts import MetricFacts
from assay.core.types import Attribution
from assay.evaluation.attribution_metric import descending_order


@dataclass(frozen=True)
class TopKOverlap:
    """|top k of one method that are in the top k of the other| / k, k at most the number of units.

    Weakness: ignores the order within the top k.
    """

    k: int = 5
    facts: ClassVar[MetricFacts] = MetricFacts(better="higher", range="0 .. 1")

    def compare(self, first: Attribution, second: Attribution) -> float:
        k = min(self.k, len(first))
        both = np.intersect1d(descending_order(first.scores)[:k], descending_order(second.scores)[:k])
        return len(both) / k
