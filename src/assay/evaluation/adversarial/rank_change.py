"""Rank change: the share of the top k places that an attack changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from assay.core.metric_facts import MetricFacts
from assay.core.types import Attribution
from assay.evaluation.adversarial._top import SHARE, check_share, ranking, top_k


@dataclass(frozen=True)
class RankChange:
    """share of the places 1 .. k that hold another unit after the attack, k = max(1, floor(share x units)).

    Place by place, as in the thesis (whose formula has = instead of ≠): [12, 3, 7] against [3, 15, 7] is 2/3.
    Weakness: swapping two neighbours counts as much as replacing both.
    """

    share: float = SHARE
    facts: ClassVar[MetricFacts] = MetricFacts(better="lower", range="0 .. 1")

    def __post_init__(self) -> None:
        check_share(self.share)

    def compare(self, first: Attribution, second: Attribution) -> float:
        """`first` is the original, `second` the attacked."""
        old, new = ranking(first), ranking(second)
        k = top_k(len(old), self.share)
        return changed_places(old[:k], new[:k])


def changed_places(old: Sequence[int], new: Sequence[int]) -> float:
    """Share of the places that hold another unit."""
    return sum(a != b for a, b in zip(old, new, strict=True)) / len(old)
