"""Greedy search over orders of units: beam search with a beam of one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.core.spec import Spec
from assay.explainers.protocols import MethodFacts
from assay.explainers.search.beam_search import BeamSearch
from assay.masking.flow import Flow


@dataclass(frozen=True)
class Greedy:
    """The order that adds, at each step, the unit with the largest gain in the objective; see beam_search.

    Weakness: two units that matter only together are never found first.
    """

    objective: str | Spec = "comp_suff"

    def __post_init__(self) -> None:
        object.__setattr__(self, "objective", self._search.objective)

    @property
    def _search(self) -> BeamSearch:
        return BeamSearch(self.objective, beam=1)

    @property
    def facts(self) -> MethodFacts:
        return MethodFacts(
            scale=self._search.facts.scale,
            signed=True,
            complete=False,
            class_dependent=True,
            passes="at most n (n + 2) f",
            memory="n x n masks",
        )

    def flow(self, n: int, rng: np.random.Generator) -> Flow:
        return self._search.flow(n, rng)
