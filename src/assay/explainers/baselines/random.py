"""Random scores: the control that every method must beat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.core.types import Scale
from assay.masking.flow import Flow


@dataclass(frozen=True)
class Random:
    """A random permutation of 1..n, fresh for each input."""

    seed: int = 0
    scale: ClassVar[Scale] = "probability"
    signed: ClassVar[bool] = False
    complete: ClassVar[bool] = False
    class_dependent: ClassVar[bool] = False
    passes: ClassVar[str] = "none"
    memory: ClassVar[str] = "n"
    revision: ClassVar[int] = 1

    def flow(self, n: int, rng: np.random.Generator) -> Flow:
        yield from ()  # asks nothing of the model
        return rng.permutation(n) + 1.0
