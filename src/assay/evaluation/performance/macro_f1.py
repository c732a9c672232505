"""Macro F1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.core.metric_facts import MetricFacts


@dataclass(frozen=True)
class MacroF1:
    """the mean over classes of 2 hits / (predicted + gold); classes neither predicted nor gold are left out."""

    facts: ClassVar[MetricFacts] = MetricFacts(better="higher", range="0 .. 1", task="classification")

    def score(self, outputs: NDArray[np.floating[Any]], gold: NDArray[Any]) -> float:  # (N,C), (N,)
        predicted = outputs.argmax(-1)
        hits = np.array([((predicted == c) & (gold == c)).sum() for c in range(outputs.shape[-1])])
        sizes = np.array([(predicted == c).sum() + (gold == c).sum() for c in range(outputs.shape[-1])])
        present = sizes > 0
        return float((2 * hits[present] / sizes[present]).mean())
