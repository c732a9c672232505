"""Accuracy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Accuracy:
    """the share of examples whose highest output is the gold label."""

    better: ClassVar[Literal["higher", "lower"]] = "higher"
    range: ClassVar[str] = "0 .. 1"
    task: ClassVar[str] = "classification"
    revision: ClassVar[int] = 1

    def score(self, outputs: NDArray[np.floating[Any]], gold: NDArray[Any]) -> float:  # (N,C), (N,)
        return float((outputs.argmax(-1) == gold).mean())
