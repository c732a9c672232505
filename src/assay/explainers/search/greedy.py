"""Greedy search over orders of units: beam search with a beam of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.core.spec import Spec
from assay.core.types import Scale
from assay.explainers.search.beam_search import BeamSearch
from assay.masking.flow import Flow


@dataclass(frozen=True)
class Greedy:
    """The order that takes, at each step, the unit with which the objective gains most; see beam_search.

    Weakness: two units that only matter together are never taken first.
    """

    objective: str | Spec = "comp_suff"
    scale: ClassVar[Scale] = "probability"
    signed: ClassVar[bool] = True
    complete: ClassVar[bool] = False
    class_dependent: ClassVar[bool] = True
    passes: ClassVar[str] = "at most n (n + 2) f"
    memory: ClassVar[str] = "n x n masks"
    revision: ClassVar[int] = 1

    def __post_init__(self) -> None:
        search = BeamSearch(self.objective, beam=1)
        object.__setattr__(self, "objective", search.objective)
        object.__setattr__(self, "scale", search.scale)  # the class speaks for its default

    def flow(self, n: int, rng: np.random.Generator) -> Flow:
        return BeamSearch(self.objective, beam=1).flow(n, rng)
