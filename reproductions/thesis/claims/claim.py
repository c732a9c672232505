"""A claim, its judgement, and helpers to read the evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from assay.statistics.bootstrap import interval

from ..evidence import RESAMPLES, SHORT, SINGLE, Cell, Evidence, Statement

Verdict = Literal["reproduced", "not reproduced", "not testable here", "not run yet"]
GTO, RANK, COMP, SUFF = "ground_truth_overlap", "mean_rank_percentage", "comprehensiveness", "sufficiency"
KEPT, MATCHED = "prediction_kept", "probability_matched"  # the thesis's "unconstrained" and "constrained"
NEAR = 0.1
ROUNDING = ("bert", "roberta")  # their embeddings go into a LayerNorm first


@dataclass(frozen=True)
class Claim:
    number: int
    title: str
    statements: Callable[[Evidence], Sequence[Statement]]
    figures: tuple[str, ...]
    scaled: bool  # whether gradients of the logit can change the verdict
    otherwise: str  # shown in the logit column if not

    def judge(self, evidence: Evidence) -> Judgement:
        own = evidence.without_missing()
        statements = tuple(self.statements(own))
        missing = tuple(f"{' '.join(run)} {n} of {own.planned[run]}" for run, n in sorted(own.missing.items()))
        return Judgement(self, verdict_of(statements), statements, missing)

    @property
    def criterion(self) -> str:
        return " ".join((self.statements.__doc__ or "").split())

    @property
    def data(self) -> list[str]:
        """The data sets of the claim, from the names of its figures."""
        first = [figure.partition("_")[0] for figure in self.figures]
        return list(dict.fromkeys(word if word in ("mnli", "esnli") else "sst" for word in first))


@dataclass(frozen=True)
class Judgement:
    """The verdict on a claim, with its statements."""

    claim: Claim
    verdict: Verdict
    statements: tuple[Statement, ...]
    missing: tuple[str, ...] = ()  # models with fewer trainings than planned


def verdict_of(statements: Sequence[Statement]) -> Verdict:
    """A single failing statement decides; otherwise all must have been tested."""
    if any(s.holds is False for s in statements):
        return "not reproduced"
    if not statements or any(s.holds is None and s.testable for s in statements):
        return "not run yet"
    return "reproduced" if all(s.holds for s in statements) else "not testable here"


CLAIMS: list[Claim] = []


def claim(number: int, title: str, *figures: str, scaled: bool = False, otherwise: str = "same"):  # type: ignore[no-untyped-def]
    def add(function: Callable[[Evidence], Sequence[Statement]]) -> Callable[[Evidence], Sequence[Statement]]:
        CLAIMS.append(Claim(number, title, function, figures, scaled, otherwise))
        return function

    return add


def cell(e: Evidence, grid: str, method: str, metric: str, data: str = "sst") -> Callable[[], Cell]:
    return lambda: e.score(grid, method, metric, data)


def short(method: str, grid: str) -> str:
    """The short name, marked where a plain gradient sums to rounding errors."""
    return SHORT[method] + ("†" if method == "gradient" and grid in ROUNDING else "")


def name(grid: str, method: str, metric: str = "") -> str:
    return f"{short(method, grid)} {grid} {metric}".strip()


def best(e: Evidence, grid: str, metric: str, methods: Sequence[str] = SINGLE, data: str = "sst") -> str:
    """The method with the best mean; sufficiency and rank are better when low."""
    sign = -1 if metric in (SUFF, RANK) else 1
    return max(methods, key=lambda m: sign * e.score(grid, m, metric, data).interval.value)


def best_cell(e: Evidence, grid: str, metric: str, data: str = "sst") -> Callable[[], Cell]:
    return lambda: e.score(grid, best(e, grid, metric, data=data), metric, data)


def over_examples(cells: Sequence[Cell], statistic: Callable[[np.ndarray], np.ndarray]):  # type: ignore[no-untyped-def,type-arg]
    """Bootstrap a statistic of the means (K, ...) over the examples that all cells share."""
    common = [x for x in cells[0].examples if all(x in set(c.examples) for c in cells)]
    table = np.array([c.values.mean(0)[[c.examples.index(x) for x in common]] for c in cells])  # (K,n)

    def of(index: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
        return statistic(table[:, index.astype(int)].mean(-1))

    return interval(np.arange(len(common), dtype=float), statistic=of, resamples=RESAMPLES, kind="percentile")
