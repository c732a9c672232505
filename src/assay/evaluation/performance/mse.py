"""Mean squared error, for regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Mse:
    """the mean of (output - gold)^2."""

    better: ClassVar[Literal["higher", "lower"]] = "lower"
    range: ClassVar[str] = "0 .. inf"
    task: ClassVar[str] = "regression"
    revision: ClassVar[int] = 1

    def score(self, outputs: NDArray[np.floating[Any]], gold: NDArray[Any]) -> float:  # (N,C), (N,)
        return float(((outputs[:, 0].astype(np.float64) - gold) ** 2).mean())
