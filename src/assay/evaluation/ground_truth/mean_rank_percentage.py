"""Mean rank percentage (the thesis; its figures call it Mean Rank)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from assay.core.types import Attribution, Example
from assay.evaluation.gold import judged, order


@dataclass(frozen=True)
class MeanRankPercentage:
    """mean rank divided by the number of units: E[1/n] at best for one cue, E[(n+1)/2n] for random scores.

    Weakness: one true unit ranked low decides.
    """

    better: ClassVar[Literal["higher", "lower"]] = "lower"
    range: ClassVar[str] = "0 .. 1"
    revision: ClassVar[int] = 1

    def measure(self, attribution: Attribution, example: Example) -> float | None:
        found = judged(attribution, example)
        if found is None:
            return None
        scores, truth = found
        return float((truth[order(scores)].nonzero()[0].max() + 1) / len(scores))
