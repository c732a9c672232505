"""Protocols: papers disagree on fractions, rounding, removal and divisor; a protocol fixes them all under one name."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from assay.core.errors import SpecError, nearest
from assay.core.types import Bools, Scale

Ints = NDArray[np.int64]
Values = NDArray[np.float64]
FIVE = (0.01, 0.05, 0.1, 0.2, 0.5)


@dataclass(frozen=True)
class Rules:
    """How much is removed or kept, how, and how the results are averaged. Special tokens are always protected."""

    fractions: tuple[float, ...]  # of sufficiency and comprehensiveness; aopc_* always use the five
    removal: str  # of sufficiency and comprehensiveness
    rounding: Literal["ceil", "floor"] = "ceil"
    minimum: int = 1  # tokens that are removed or kept at the least
    extra_divisor: int = 0  # added to the number of fractions when averaging the five
    scale: Scale = "probability"

    def counts(self, n: int, fractions: tuple[float, ...]) -> list[int]:
        """How many of n tokens each fraction is."""
        # the product is rounded first: 0.1 * 30 is 3.0000000000000004 in floating point, and three tokens are meant
        exact = [round(fraction * n, 9) for fraction in fractions]
        whole = [math.ceil(x) if self.rounding == "ceil" else math.floor(x) for x in exact]
        return [min(n, max(self.minimum, count)) for count in whole]


PROTOCOLS: dict[str, Rules] = {
    "eraser": Rules(FIVE, "delete"),  # DeYoung et al. 2020, averaged as its scorer does
    "thesis": Rules((0.05, 0.1, 0.2, 0.5), "mask_token"),  # Hase et al. 2021's fractions, masks instead of deletion
    "aml": Rules((0.2,), "delete", rounding="floor"),  # as the paper defines it; it is silent on rounding
    "aml_code": Rules((0.2,), "delete", rounding="floor", minimum=0, extra_divisor=1),  # no token counts 0; sums / 6
}


def rules(name: str) -> Rules:
    if name not in PROTOCOLS:
        raise SpecError(f"there is no protocol {name!r}; {nearest(name, PROTOCOLS)}")
    return PROTOCOLS[name]


class Metric(Protocol):
    """A faithfulness metric: `keeps` are prefixes of an order, so that a search may optimise it."""

    better: ClassVar[Literal["higher", "lower"]]
    range: ClassVar[str]
    revision: ClassVar[int]
    protocol: str
    removal: ClassVar[str | None]  # None: the protocol's; either overrides what the caller's explainers use
    scale: ClassVar[Scale | None]  # None: the protocol's

    def keeps(self, order: Ints) -> Bools:
        """(M,U) masks for an order of the units, most important first."""

    def measure(self, values: Values, value_full: float) -> float:
        """The metric from the values (M,) of its masks and the value of the whole input."""

    def curve(self, values: Values, value_full: float) -> Values:
        """What a plot shows: one number per mask."""


def top_masks(order: Ints, counts: list[int], *, kept: bool) -> Bools:
    """(M,U) masks that keep (or remove) the first `counts[m]` units of an order."""
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    top = rank < np.asarray(counts)[:, None]
    return top if kept else ~top
