"""Comprehensiveness (DeYoung et al. 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from assay.core.types import Bools, Scale
from assay.faithfulness.protocol import Ints, Values, rules, top_masks


@dataclass(frozen=True)
class Comprehensiveness:
    """mean over fractions k of v(x) - v(the top k removed).

    Weakness: the rest is out of distribution; redundant evidence keeps it low for every method.
    """

    protocol: str = "eraser"
    better: ClassVar[Literal["higher", "lower"]] = "higher"
    range: ClassVar[str] = "-1 .. 1; near v(x) - v(nothing) when all evidence is found"
    removal: ClassVar[str | None] = None
    scale: ClassVar[Scale | None] = None
    revision: ClassVar[int] = 1

    def keeps(self, order: Ints) -> Bools:
        return top_masks(order, rules(self.protocol).counts(len(order), rules(self.protocol).fractions), kept=False)

    def curve(self, values: Values, value_full: float) -> Values:
        return value_full - values

    def measure(self, values: Values, value_full: float) -> float:
        return float(self.curve(values, value_full).mean())
