"""Kendall's tau of two methods' scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from scipy.stats import kendalltau

from assay.core.types import Attribution


@dataclass(frozen=True)
class Kendall:
    """(concordant - discordant pairs) / pairs, tau-b for ties; 0 where one is constant.

    Weakness: all pairs count alike, also those of words that matter to no method.
    """

    better: ClassVar[Literal["higher", "lower"]] = "higher"
    range: ClassVar[str] = "-1 .. 1"
    revision: ClassVar[int] = 1

    def compare(self, first: Attribution, second: Attribution) -> float:
        if np.ptp(first.scores) == 0 or np.ptp(second.scores) == 0:
            return 0.0
        return float(kendalltau(first.scores, second.scores).statistic)
