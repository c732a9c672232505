"""Accuracy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.core.metric_facts import MetricFacts


@dataclass(frozen=True)
class Accuracy:
    """the share of examples whose highest output is the gold label."""

    facts: ClassVar[MetricFacts] = MetricFacts(better="higher", range="0 .. 1", task="classification")

    def score(self, outputs: NDArray[np.floating[Any]], gold: NDArray[Any]) -> float:  # (N,C), (N,)
        return float((outputs.argmax(-1) == gold).mean())
