"""Pearson correlation, for regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.core.metric_facts import MetricFacts


@dataclass(frozen=True)
class Pearson:
    """correlation of the output with the gold score; 0 if one is constant."""

    facts: ClassVar[MetricFacts] = MetricFacts(better="higher", range="-1 .. 1", task="regression")

    def score(self, outputs: NDArray[np.floating[Any]], gold: NDArray[Any]) -> float:  # (N,C), (N,)
        output = outputs[:, 0].astype(np.float64)
        if np.ptp(output) == 0 or np.ptp(gold) == 0:
            return 0.0
        return float(np.corrcoef(output, gold)[0, 1])
