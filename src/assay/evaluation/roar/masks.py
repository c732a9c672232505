"""Which words of an example are masked at each ratio, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.core.errors import SpecError
from assay.core.types import Span

By = Literal["share", "count"]


@dataclass(frozen=True, order=True)
class Amount:
    """How much is masked: `share` per cent of an example's words, or `count` words (all if it has fewer)."""

    by: By
    k: int

    def of(self, n: int) -> int:
        """The number of words out of n: floor(k n / 100), or min(k, n)."""
        return self.k * n // 100 if self.by == "share" else min(self.k, n)


def amounts(by: By, step: int, last: int | None) -> list[Amount]:
    """All amounts from one step to the last; a share ends at 100, with everything masked."""
    end = last if last is not None else 100 if by == "share" else 10
    if step < 1 or end < step or (by == "share" and end > 100):
        unit, limit = ("per cent", " and at most 100") if by == "share" else ("words", "")
        raise SpecError(f"step={step}, last={end} {unit}: step must be at least 1, last at least step{limit}")
    return [Amount(by, k) for k in range(step, end + 1, step)]


def order(scores: ArrayLike, masked: Sequence[int], rng: np.random.Generator) -> NDArray[np.int64]:
    """Words in the order in which they are masked: those already masked, then by descending score.

    Masks of increasing amounts are therefore nested. Ties are broken at random: a fixed order would favour the start
    of a text.
    """
    values = np.asarray(scores, np.float64)
    rest = np.lexsort((rng.random(len(values)), -values))
    done = set(masked)
    return np.array([*masked, *(i for i in rest.tolist() if i not in done)], np.int64)


def whole(text: str | None) -> tuple[Span, ...]:
    """The whole primary text as one span."""
    return (Span(0, 0, len(text)),) if text else ()
