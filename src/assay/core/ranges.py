"""The numbers that a setting may have, in one place: every check gives the same kind of sentence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from assay.core.errors import SpecError
from assay.core.spec import check_numbers


@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`; NaN and infinity are never among them."""

    low: float
    high: float = math.inf
    whole: bool = False
    above: bool = False  # `low` itself is excluded
    below: bool = False  # `high` itself is excluded

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, Integral if self.whole else Real) or isinstance(value, bool):
            return False
        try:
            number = float(value)
        except OverflowError:  # hundreds of digits
            return False
        low, high = (number > self.low if self.above else number >= self.low), number <= self.high
        return math.isfinite(number) and low and high and not (self.below and number == self.high)

    def __str__(self) -> str:
        low = f"{'above' if self.above else 'at least'} {self.low:g}"
        high = "" if math.isinf(self.high) else f" and {'below' if self.below else 'at most'} {self.high:g}"
        return f"a {'whole ' if self.whole else ''}number, {low}{high}"


COUNT = Range(1, whole=True)
POSITIVE = Range(0, above=True)
NOT_NEGATIVE = Range(0)
SHARE = Range(0, 1, above=True)


def check_range(name: str, value: object, allowed: Range) -> None:
    """Raise unless the value is None or in the range."""
    if value is not None and value not in allowed:
        raise SpecError(f"{name}={value!r}: give {allowed}")
    check_numbers(name, value)  # nor more than any machine has room for


def check_ranges(settings: Any, **allowed: Range) -> None:
    """Raise unless the fields of these names are None or in their ranges."""
    for name, values in allowed.items():
        check_range(name, getattr(settings, name), values)
