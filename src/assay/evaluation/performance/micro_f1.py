"""Micro F1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.core.metric_facts import MetricFacts


@dataclass(frozen=True)
class MicroF1:
    """2 hits / (predicted + gold) pooled over classes; with one label per example it equals accuracy."""

    facts: ClassVar[MetricFacts] = MetricFacts(better="higher", range="0 .. 1", task="classification")

    def score(self, outputs: NDArray[np.floating[Any]], gold: NDArray[Any]) -> float:  # (N,C), (N,)
        predicted = outputs.argmax(-1)
        hits = np.array([((predicted == c) & (gold == c)).sum() for c in range(outputs.shape[-1])])
        sizes = np.array([(predicted == c).sum() + (gold == c).sum() for c in range(outputs.shape[-1])])
        return float(2 * hits.sum() / sizes.sum())
