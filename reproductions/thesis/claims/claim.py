"""What a claim is, how it is judged, and the cells that claims are about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from evidence import RESAMPLES, SHORT, SINGLE, Cell, Evidence, Part

from assay.statistics.bootstrap import interval

Verdict = Literal["reproduced", "not reproduced", "not testable here", "not run yet"]
GTO, RANK, COMP, SUFF = "ground_truth_overlap", "mean_rank_percentage", "comprehensiveness", "sufficiency"
KEPT, MATCHED = "prediction_kept", "probability_matched"  # the thesis's "unconstrained" and "constrained"
NEAR = 0.1
ROUNDING = ("bert", "roberta")  # a LayerNorm is the first to read their embeddings


@dataclass(frozen=True)
class Claim:
    number: int
    title: str
    parts: Callable[[Evidence], Sequence[Part]]
    figures: tuple[str, ...]
    scaled: bool  # whether gradients of the logit may say something else
    otherwise: str  # what stands for the logit if they may not

    def judge(self, evidence: Evidence) -> Judged:
        asked = evidence.fresh()
        parts = tuple(self.parts(asked))
        few = tuple(f"{' '.join(at)} {n} of {asked.planned[at]}" for at, n in sorted(asked.lacking.items()))
        return Judged(self, verdict_of(parts), parts, few)

    @property
    def criterion(self) -> str:
        return " ".join((self.parts.__doc__ or "").split())

    @property
    def data(self) -> list[str]:
        """The data sets that it is about, as its figures are named."""
        first = [figure.partition("_")[0] for figure in self.figures]
        return list(dict.fromkeys(word if word in ("mnli", "esnli") else "sst" for word in first))


@dataclass(frozen=True)
class Judged:
    """A claim after it was looked at."""

    claim: Claim
    verdict: Verdict
    parts: tuple[Part, ...]
    lacking: tuple[str, ...] = ()  # models of which not all trainings were there


def verdict_of(parts: Sequence[Part]) -> Verdict:
    """One statement that fails decides; else all must have been looked at."""
    if any(p.holds is False for p in parts):
        return "not reproduced"
    if not parts or any(p.holds is None and p.testable for p in parts):
        return "not run yet"
    return "reproduced" if all(p.holds for p in parts) else "not testable here"


CLAIMS: list[Claim] = []


def claim(number: int, title: str, *figures: str, scaled: bool = False, otherwise: str = "same"):  # type: ignore[no-untyped-def]
    def add(function: Callable[[Evidence], Sequence[Part]]) -> Callable[[Evidence], Sequence[Part]]:
        CLAIMS.append(Claim(number, title, function, figures, scaled, otherwise))
        return function

    return add


def cell(e: Evidence, grid: str, method: str, metric: str, data: str = "sst") -> Callable[[], Cell]:
    return lambda: e.score(grid, method, metric, data)


def short(method: str, grid: str) -> str:
    """Its short name, with a mark where a plain gradient sums to rounding errors."""
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
    """Bootstrap over the examples that all cells share of a statistic of their means (K, ...)."""
    common = [x for x in cells[0].examples if all(x in set(c.examples) for c in cells)]
    table = np.array([c.values.mean(0)[[c.examples.index(x) for x in common]] for c in cells])  # (K,n)

    def of(index: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
        return statistic(table[:, index.astype(int)].mean(-1))

    return interval(np.arange(len(common), dtype=float), statistic=of, resamples=RESAMPLES, kind="percentile")
