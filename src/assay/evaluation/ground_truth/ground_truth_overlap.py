"""Ground-truth overlap (the thesis's GTO)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from assay.core.types import Attribution, Example
from assay.evaluation.gold import judged, order


@dataclass(frozen=True)
class GroundTruthOverlap:
    """|top k of the scores that are true| / k, k = the number of true units.

    For one cue: 1 if it is ranked first, else 0. Random scores have E[k/n]. Weakness: says nothing below the top k.
    """

    better: ClassVar[Literal["higher", "lower"]] = "higher"
    range: ClassVar[str] = "0 .. 1"
    revision: ClassVar[int] = 1

    def measure(self, attribution: Attribution, example: Example) -> float | None:
        found = judged(attribution, example)
        if found is None:
            return None
        scores, truth = found
        return float(truth[order(scores)[: truth.sum()]].mean())
