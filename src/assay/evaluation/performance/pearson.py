"""Pearson correlation, for regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Pearson:
    """correlation of the output with the gold score; 0 where one is constant."""

    better: ClassVar[Literal["higher", "lower"]] = "higher"
    range: ClassVar[str] = "-1 .. 1"
    task: ClassVar[str] = "regression"
    revision: ClassVar[int] = 1

    def score(self, outputs: NDArray[np.floating[Any]], gold: NDArray[Any]) -> float:  # (N,C), (N,)
        output = outputs[:, 0].astype(np.float64)
        if np.ptp(output) == 0 or np.ptp(gold) == 0:
            return 0.0
        return float(np.corrcoef(output, gold)[0, 1])
