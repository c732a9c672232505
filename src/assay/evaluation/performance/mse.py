"""Mean squared error, for regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.core.metric_facts import MetricFacts


@dataclass(frozen=True)
class Mse:
    """the mean of (output - gold)^2."""

    facts: ClassVar[MetricFacts] = MetricFacts(better="lower", range="0 .. inf", task="regression")

    def score(self, outputs: NDArray[np.floating[Any]], gold: NDArray[Any]) -> float:  # (N,C), (N,)
        return float(((outputs[:, 0].astype(np.float64) - gold) ** 2).mean())
