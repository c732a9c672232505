"""Random scores: the baseline that every method should beat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.explainers.protocols import MethodFacts
from assay.masking.flow import Flow


@dataclass(frozen=True)
class Random:
    """A random permutation of 1..n, drawn for each input. An evaluation takes the mean over many draws."""

    seed: int = 0
    facts: ClassVar[MethodFacts] = MethodFacts(
        scale="probability", signed=False, complete=False, class_dependent=False, passes="none", memory="n", chance=True
    )

    def flow(self, n: int, rng: np.random.Generator) -> Flow:
        yield from ()  # needs no model output
        return rng.permutation(n) + 1.0
