"""Token F1 against a rationale (ERASER)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from assay.core.types import Attribution, Example
from assay.evaluation.gold import Words, judged, order


@dataclass(frozen=True)
class TokenF1:
    """F1 of the chosen units, per example: the top `share` of the units, or as many as the rationale has (share=None).

    Weakness: depends on how many units are chosen; what convinces people is not what the model used.
    """

    share: float | None = None
    words: Words = "none"
    better: ClassVar[Literal["higher", "lower"]] = "higher"
    range: ClassVar[str] = "0 .. 1"
    revision: ClassVar[int] = 1

    def measure(self, attribution: Attribution, example: Example) -> float | None:
        found = judged(attribution, example, self.words)
        if found is None:
            return None
        scores, truth = found
        chosen = int(truth.sum()) if self.share is None else max(1, math.ceil(self.share * len(truth)))
        hits = truth[order(scores)[:chosen]].sum()
        return float(2 * hits / (chosen + truth.sum()))
