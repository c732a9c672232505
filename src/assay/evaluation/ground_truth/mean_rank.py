"""Mean rank (Bastings et al. 2022)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from assay.core.types import Attribution, Example
from assay.evaluation.gold import judged, order


@dataclass(frozen=True)
class MeanRank:
    """the smallest r such that all true units are within the top r.

    Weakness: depends on the length of the text; one true unit ranked low decides.
    """

    better: ClassVar[Literal["higher", "lower"]] = "lower"
    range: ClassVar[str] = "1 .. n"
    revision: ClassVar[int] = 1

    def measure(self, attribution: Attribution, example: Example) -> float | None:
        found = judged(attribution, example)
        if found is None:
            return None
        scores, truth = found
        return float(truth[order(scores)].nonzero()[0].max() + 1)
