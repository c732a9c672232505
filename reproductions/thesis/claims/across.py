"""Claims 21, 22 and 24: comparisons across experiments."""

from __future__ import annotations

import numpy as np

from ..evidence import (
    ARCHITECTURES,
    ATTENTION,
    CAUSAL,
    SHORT,
    SINGLE,
    SIZES,
    TOP,
    Evidence,
    NotRunYetError,
    Statement,
    above,
    not_above,
    show,
    statement,
)
from .claim import COMP, GTO, RANK, SUFF, best, cell, claim, over_examples, short


@claim(21, "Architectures differ more than sizes", "sizes_ground_truth", "architectures_ground_truth",
       "sizes_faithfulness", "architectures_faithfulness", scaled=True)  # fmt: skip
def spread_of_axes(e: Evidence) -> list[Statement]:
    """For each of the four metrics: mean over the seven methods of the standard deviation of the four
    architectures' means, minus that of the four sizes' means; the whole bootstrap interval over examples is
    above 0."""
    return [statement(f"{metric}:", lambda metric=metric: _spreads(e, metric)) for metric in (GTO, RANK, COMP, SUFF)]  # type: ignore[misc]


def _spreads(e: Evidence, metric: str) -> tuple[str, bool]:
    cells = [e.score(g, m, metric) for m in SINGLE for g in (*ARCHITECTURES, *SIZES)]

    def spread(means: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
        both = means.reshape(len(SINGLE), 2, 4, *means.shape[1:]).std(2).mean(0)  # (2, ...)
        return both[0] - both[1]

    difference = over_examples(cells, spread)
    return f"difference of spreads {show(difference, sign=True)} > 0", difference.low > 0


@claim(22, "IG is the cheapest of the top three at equal quality", "sizes_ground_truth", "sizes_faithfulness",
       scaled=True)  # fmt: skip
def ig_cheapest(e: Evidence) -> list[Statement]:
    """On each of the eight models IG needs fewer passes (forward + backward, per example) than LIME and SHAP; at
    the four sizes (claim 8 says otherwise for architectures) its overlap and comprehensiveness are not
    significantly more than 0.05 below the better of the two."""
    out = []
    for g in (*SIZES, *ARCHITECTURES):
        out.append(statement(f"{g} passes:", lambda g=g: _passes(e, g)))  # type: ignore[misc]
        for metric in (GTO, COMP) if g in SIZES else ():
            better = lambda g=g, x=metric: e.score(g, best(e, g, x, TOP[1:]), x)  # type: ignore[misc]  # noqa: E731
            out.append(
                not_above(f"{g} better of LIME, SHAP - IG {metric}", better, cell(e, g, TOP[0], metric), by=0.05)
            )
    return out


def _passes(e: Evidence, grid: str) -> tuple[str, bool]:
    try:
        passes = {m: e.passes["sst", grid, m] for m in TOP}
    except KeyError as error:
        raise NotRunYetError(grid) from error
    text = ", ".join(f"{SHORT[m]} {f:.0f} forward + {b:.0f} backward" for m, (f, b) in passes.items())
    total = {m: sum(passes[m]) for m in TOP}
    return text, total[TOP[0]] < min(total[m] for m in TOP[1:])


@claim(24, "Attention slightly beats plain gradients, except on GPT-2", "sizes_faithfulness",
       "architectures_faithfulness", scaled=True)  # fmt: skip
def attention_beats_gradients(e: Evidence) -> list[Statement]:
    """Mean rank % and comprehensiveness of the better attention method (chosen for each metric) are better than those
    of plain gradients on the seven models that are not causal, comprehensiveness not significantly by more than 0.2
    ("slightly"), and not better on the causal one."""
    out = []
    for g in (*SIZES, *ARCHITECTURES):
        judge = not_above if g == CAUSAL else above
        for metric in (COMP, RANK):
            better = lambda g=g, x=metric: e.score(g, best(e, g, x, ATTENTION), x)  # type: ignore[misc]  # noqa: E731
            pair = (better, cell(e, g, "gradient", metric))
            first, second = pair if metric == COMP else pair[::-1]
            text = f"{g} attention better than {short('gradient', g)}, {metric}"
            out.append(judge(text, first, second))
            if g != CAUSAL and metric == COMP:
                out.append(not_above(text, first, second, by=0.2))
    return out
