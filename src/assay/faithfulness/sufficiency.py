"""Sufficiency (DeYoung et al. 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from assay.core.types import Bools, Scale
from assay.faithfulness.protocol import Ints, Values, rules, top_masks


@dataclass(frozen=True)
class Sufficiency:
    """mean over fractions k of v(x) - v(only the top k kept).

    Weakness: what is kept is no real text; a model that guesses the class from nothing makes every method sufficient.
    """

    protocol: str = "eraser"
    better: ClassVar[Literal["higher", "lower"]] = "lower"
    range: ClassVar[str] = "-1 .. 1; near 0 when the kept tokens suffice"
    removal: ClassVar[str | None] = None
    scale: ClassVar[Scale | None] = None
    revision: ClassVar[int] = 1

    def keeps(self, order: Ints) -> Bools:
        counts = rules(self.protocol).counts(len(order), rules(self.protocol).fractions)
        # a fraction that is no token at all says nothing: the whole text is kept and the value is 0
        return top_masks(order, [count or len(order) for count in counts], kept=True)

    def curve(self, values: Values, value_full: float) -> Values:
        return value_full - values

    def measure(self, values: Values, value_full: float) -> float:
        return float(self.curve(values, value_full).mean())
