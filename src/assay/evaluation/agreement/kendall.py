"""Kendall's tau of two methods' scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.stats import kendalltau

from assay.core.metric_facts import MetricFacts
from assay.core.types import Attribution


@dataclass(frozen=True)
class Kendall:
    """(concordant - discordant pairs) / pairs, tau-b for ties; 0 if one is constant.

    Weakness: all pairs have equal weight, including words that matter to neither method.
    """

    facts: ClassVar[MetricFacts] = MetricFacts(better="higher", range="-1 .. 1")

    def compare(self, first: Attribution, second: Attribution) -> float:
        if np.ptp(first.scores) == 0 or np.ptp(second.scores) == 0:
            return 0.0
        return float(kendalltau(first.scores, second.scores).statistic)
