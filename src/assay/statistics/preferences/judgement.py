"""Judgements: one participant's ranks of the explanations of one example, in competition style."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from assay.core.errors import InputError
from assay.statistics.bootstrap import Values


@dataclass(frozen=True)
class Judgement:
    """Ranks by method, 1 the best; equal ranks are a tie. A choice between two explanations is a ranking of two."""

    participant: str
    example: str
    ranks: Mapping[str, int]

    def __post_init__(self) -> None:
        check_ranks(list(self.ranks.values()))


def competition_ranks(order: Sequence[float]) -> list[int]:
    """The ranks of a race: 1 + the number of better ones, so that two firsts are followed by a third."""
    return [1 + sum(other < own for other in order) for own in order]


def check_ranks(ranks: Sequence[int]) -> None:
    """Refuse ranks that are not in competition style, and say which ones would be."""
    if len(ranks) < 2:
        raise InputError(f"{len(ranks)} ranks were given; a ranking needs at least two explanations")
    if any(isinstance(rank, bool) or not isinstance(rank, int) or not 1 <= rank <= len(ranks) for rank in ranks):
        raise InputError(f"Ranks {_listed(ranks)}: each must be a whole number from 1 (best) to {len(ranks)} (worst).")
    meant = competition_ranks(ranks)
    if list(ranks) == meant:
        return
    if min(ranks) != 1:
        raise InputError(f"Ranks {_listed(ranks)}: none is 1. The best explanation has rank 1: give {_listed(meant)}.")
    wrong = min(rank for rank, right in zip(ranks, meant, strict=True) if rank != right)
    better = sum(rank < wrong for rank in ranks)
    before = "1 explanation comes" if better == 1 else f"{better} explanations come"
    reason = f"{before} before rank {wrong}, so the next rank is {better + 1}"
    raise InputError(f"Ranks {_listed(ranks)}: {reason}, as in a race. Give {_listed(meant)}, or change them.")


def _listed(ranks: Iterable[int]) -> str:
    return ", ".join(map(str, ranks))


@dataclass(frozen=True, eq=False)
class Judgements:
    """Judgements as arrays: `participant` and `example` (N,) are indices, `ranks` (N,K) is NaN where not shown."""

    rows: tuple[Judgement, ...]

    def __post_init__(self) -> None:
        if not self.rows:
            raise InputError("there are no judgements yet; results need at least one answer")

    @cached_property
    def methods(self) -> tuple[str, ...]:
        return tuple(sorted({method for row in self.rows for method in row.ranks}))

    @cached_property
    def participants(self) -> tuple[str, ...]:
        return tuple(sorted({row.participant for row in self.rows}))

    @cached_property
    def examples(self) -> tuple[str, ...]:
        return tuple(sorted({row.example for row in self.rows}))

    @cached_property
    def participant(self) -> NDArray[np.int64]:
        place = {name: i for i, name in enumerate(self.participants)}
        return np.array([place[row.participant] for row in self.rows])

    @cached_property
    def example(self) -> NDArray[np.int64]:
        place = {name: i for i, name in enumerate(self.examples)}
        return np.array([place[row.example] for row in self.rows])

    @cached_property
    def ranks(self) -> Values:
        return np.array([[row.ranks.get(method, np.nan) for method in self.methods] for row in self.rows], np.float64)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The pairs of methods, as indices."""
        return list(combinations(range(len(self.methods)), 2))
