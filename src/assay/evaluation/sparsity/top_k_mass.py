"""Mass in the top k units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from assay.core.types import Attribution, Example
from assay.evaluation.gold import seen


@dataclass(frozen=True)
class TopKMass:
    """sum of the k largest |scores| / sum of all |scores|.

    Weakness: concentrated is not the same as right.
    """

    k: int = 5
    better: ClassVar[Literal["higher", "lower"]] = "higher"
    range: ClassVar[str] = "0 .. 1"
    revision: ClassVar[int] = 1

    def measure(self, attribution: Attribution, example: Example) -> float | None:
        size = np.sort(np.abs(seen(attribution).scores.astype(np.float64)))[::-1]
        total = size.sum()
        return float(size[: self.k].sum() / total) if total > 0 else None
