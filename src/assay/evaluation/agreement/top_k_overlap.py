"""Overlap of two methods' top k units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from assay.core.types import Attribution
from assay.evaluation.gold import order


@dataclass(frozen=True)
class TopKOverlap:
    """|top k of one that are in the top k of the other| / k, k at most the number of units.

    Weakness: blind to order within the top k.
    """

    k: int = 5
    better: ClassVar[Literal["higher", "lower"]] = "higher"
    range: ClassVar[str] = "0 .. 1"
    revision: ClassVar[int] = 1

    def compare(self, first: Attribution, second: Attribution) -> float:
        k = min(self.k, len(first))
        both = np.intersect1d(order(first.scores)[:k], order(second.scores)[:k])
        return len(both) / k
