"""Mass of the top k units."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.core.metric_facts import MetricFacts
from assay.core.types import Attribution, Example
from assay.evaluation.attribution_metric import without_unseen


@dataclass(frozen=True)
class TopKMass:
    """sum of the k largest |scores| / sum of all |scores|.

    share: use this share of the units, rounded up, instead of a fixed k: `top_k_mass(share=0.1)`.
    Weakness: a concentrated explanation is not necessarily a correct one.
    """

    k: int = 5
    share: float | None = None
    facts: ClassVar[MetricFacts] = MetricFacts(better="higher", range="0 .. 1")

    def measure(self, attribution: Attribution, example: Example) -> float | None:
        sizes = np.sort(np.abs(without_unseen(attribution).scores.astype(np.float64)))[::-1]
        k = self.k if self.share is None else math.ceil(self.share * len(sizes))
        total = sizes.sum()
        return float(sizes[:k].sum() / total) if total > 0 else None
