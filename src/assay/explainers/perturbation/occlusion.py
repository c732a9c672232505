"""Occlusion, leave one out (Zeiler & Fergus 2014)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.explainers.protocols import MethodFacts
from assay.masking.flow import Flow


@dataclass(frozen=True)
class Occlusion:
    """score_i = v(all) - v(all but i). Weakness: blind to redundancy; two copies of a cue both score 0."""

    facts: ClassVar[MethodFacts] = MethodFacts(
        scale="probability", signed=True, complete=False, class_dependent=True, passes="(n + 1) f", memory="n x n masks"
    )

    def flow(self, n: int, rng: np.random.Generator) -> Flow:
        values = yield np.vstack([~np.eye(n, dtype=bool), np.ones((1, n), bool)])  # (U+1,U)
        return values[-1] - values[:-1]
