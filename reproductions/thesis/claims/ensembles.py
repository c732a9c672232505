"""Claims 16 and 23: ensembles, and why they do not help."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from assay.statistics.bootstrap import interval

from ..evidence import (
    ARCHITECTURES,
    CAUSAL,
    SINGLE,
    SIZES,
    TOP,
    Evidence,
    NotTestableError,
    Statement,
    above,
    not_above,
    show,
    statement,
    within,
)
from .claim import COMP, GTO, RANK, SUFF, best_cell, cell, claim, name

ENSEMBLES = ("thesis_top3", "thesis_all")
FEW = 10  # with fewer failures their overlap says nothing


@claim(16, "Ensembles equal the best method and improve nothing", "sizes_ensembles", "architectures_ensembles",
       otherwise="not run: ensembles are of the probability")  # fmt: skip
def ensembles_equal(e: Evidence) -> list[Statement]:
    """Overlap of both ensembles no more than 0.05 below the best single method (the lower bound of "best -
    ensemble" is ≤ 0.05) on all eight models, except for the all-method ensemble on the causal model, which is
    more than 0.2 below it with a mean rank % ≤ 0.3; no ensemble has a comprehensiveness above, or a sufficiency below,
    that of the best single method."""
    out = []
    for g in (*SIZES, *ARCHITECTURES):
        for m in ENSEMBLES:
            odd = (g, m) == (CAUSAL, "thesis_all")
            judge, by = (above, 0.2) if odd else (not_above, 0.05)
            out.append(judge(f"best-{name(g, m)} overlap", best_cell(e, g, GTO), cell(e, g, m, GTO), by))
            out.append(not_above(f"{name(g, m)}-best comp", cell(e, g, m, COMP), best_cell(e, g, COMP)))
            out.append(not_above(f"best-{name(g, m)} suff", best_cell(e, g, SUFF), cell(e, g, m, SUFF)))
            if odd:
                out.append(within(f"{name(g, m)} rank", cell(e, g, m, RANK), high=0.3))
    return out


@claim(23, "Ensembles do not help because methods fail together", "sizes_ensembles", "architectures_ensembles",
       scaled=True)  # fmt: skip
def shared_errors(e: Evidence) -> list[Statement]:
    """An error is an example whose cue is not ranked first. For the members of each ensemble (IG, LIME, SHAP; all
    seven), pooled over pairs and the models on which each of the two fails at least ten times: |both fail| / |one
    fails| is above the value for independent failures (interval over examples), and at least 0.5 (our
    threshold). Not testable without such a pair, because an ensemble then has nothing to repair."""
    grids = (*SIZES, *ARCHITECTURES)
    return [
        statement(f"{word}:", lambda members=members: _overlap(e, grids, members))  # type: ignore[misc]
        for word, members in (("IG, LIME, SHAP", TOP), ("all seven", SINGLE))
    ]


def _overlap(e: Evidence, grids: Sequence[str], members: Sequence[str]) -> tuple[str, bool]:
    """Jaccard index of failures minus that of independent failures, p q / (p + q - p q), over pairs and models."""
    fails = np.array([[1 - e.score(g, m, GTO).values.mean(0) for m in members] for g in grids])  # (G,K,n)
    seen = (fails > 0.5).astype(float)  # fails in most trainings
    often = seen.sum(-1) >= FEW  # (G,K)
    both = [(g, a, b) for g in range(len(grids)) for a, b in combinations(range(len(members)), 2)]
    both = [(g, a, b) for g, a, b in both if often[g, a] and often[g, b]]
    if not both:
        raise NotTestableError(f"no two methods fail {FEW} times on one model")
    model, one, other = np.array(both).T
    first, second = seen[model, one], seen[model, other]  # (P,n)

    def jaccard(index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:  # type: ignore[type-arg]
        a, b = (x[:, index.astype(int)] for x in (first, second))  # (P,...,n)
        p, q = a.mean(-1), b.mean(-1)
        shared, chance = (a * b).mean(-1).sum(0), (p * q).sum(0)
        either, by_chance = np.maximum(a, b).mean(-1).sum(0), (p + q - p * q).sum(0)
        return shared / np.maximum(either, 1e-12), chance / np.maximum(by_chance, 1e-12)

    whole, chance = jaccard(np.arange(seen.shape[-1]))
    gap = interval(np.arange(seen.shape[-1], dtype=float), resamples=500, kind="percentile",
                   statistic=lambda i: np.subtract(*jaccard(i)))  # fmt: skip
    text = f"shared {whole:.0%} of failures, {chance:.0%} if independent, difference {show(gap, sign=True)}"
    return text, bool(gap.low > 0 and whole >= 0.5)
