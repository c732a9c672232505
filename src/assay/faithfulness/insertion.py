"""Insertion area (Petsiuk et al. 2018)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from assay.core.types import Bools, Scale
from assay.faithfulness.protocol import Ints, Values, top_masks


@dataclass(frozen=True)
class Insertion:
    """area under v while units are put back one by one, most important first; trapezoids over the share shown.

    Weakness: most of the curve is on texts that are nearly empty.
    """

    protocol: str = "eraser"
    better: ClassVar[Literal["higher", "lower"]] = "higher"
    range: ClassVar[str] = "0 .. 1 for a probability"
    removal: ClassVar[str | None] = None
    scale: ClassVar[Scale | None] = None
    revision: ClassVar[int] = 1

    def keeps(self, order: Ints) -> Bools:
        return top_masks(order, list(range(len(order) + 1)), kept=True)

    def curve(self, values: Values, value_full: float) -> Values:
        return values

    def measure(self, values: Values, value_full: float) -> float:
        return float(np.trapezoid(values, dx=1 / (len(values) - 1)))
