"""Log odds (Shrikumar et al. 2017, as used for text)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from assay.core.types import Bools, Scale
from assay.faithfulness.protocol import Ints, Values, rules, top_masks


@dataclass(frozen=True)
class LogOdds:
    """mean over fractions k of ln p(the top k masked) - ln p(x); in the AML protocols k is 20 %.

    Tokens are always replaced by the mask token, never deleted. Weakness: one confident example can decide the mean.
    """

    protocol: str = "eraser"
    better: ClassVar[Literal["higher", "lower"]] = "lower"
    range: ClassVar[str] = "-inf .. about 0"
    removal: ClassVar[str | None] = "mask_token"
    scale: ClassVar[Scale | None] = "log_probability"
    revision: ClassVar[int] = 1

    def keeps(self, order: Ints) -> Bools:
        return top_masks(order, rules(self.protocol).counts(len(order), rules(self.protocol).fractions), kept=False)

    def curve(self, values: Values, value_full: float) -> Values:
        return values - value_full

    def measure(self, values: Values, value_full: float) -> float:
        return float(self.curve(values, value_full).mean())
