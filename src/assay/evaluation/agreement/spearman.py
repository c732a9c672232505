"""Spearman's rank correlation of two methods' scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.core.metric_facts import MetricFacts
from assay.core.types import Attribution
from assay.statistics.ranks import rank_correlation


@dataclass(frozen=True)
class Spearman:
    """correlation of the ranks of two score vectors of one input, ties averaged; 0 if one is constant.

    Weakness: all ranks have equal weight, including words that matter to neither method.
    """

    facts: ClassVar[MetricFacts] = MetricFacts(better="higher", range="-1 .. 1")

    def compare(self, first: Attribution, second: Attribution) -> float:
        if np.ptp(first.scores) == 0 or np.ptp(second.scores) == 0:
            return 0.0
        return rank_correlation(first.scores, second.scores)
