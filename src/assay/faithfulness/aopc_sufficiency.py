"""AOPC sufficiency: sufficiency over five fractions (DeYoung et al. 2020; the AML paper's A-S)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from assay.core.types import Bools, Scale
from assay.faithfulness.protocol import FIVE, Ints, Values, rules, top_masks


@dataclass(frozen=True)
class AopcSufficiency:
    """mean over k = 1, 5, 10, 20, 50 % of v(x) - v(only the top k kept).

    Weakness: that of sufficiency; on short texts several fractions are the same single token.
    """

    protocol: str = "eraser"
    better: ClassVar[Literal["higher", "lower"]] = "lower"
    range: ClassVar[str] = "-1 .. 1"
    removal: ClassVar[str | None] = None
    scale: ClassVar[Scale | None] = None
    revision: ClassVar[int] = 1

    def keeps(self, order: Ints) -> Bools:
        counts = rules(self.protocol).counts(len(order), FIVE)
        # a fraction that is no token at all says nothing: the whole text is kept and the value is 0
        return top_masks(order, [count or len(order) for count in counts], kept=True)

    def curve(self, values: Values, value_full: float) -> Values:
        return value_full - values

    def measure(self, values: Values, value_full: float) -> float:
        return float(self.curve(values, value_full).sum()) / (len(values) + rules(self.protocol).extra_divisor)
