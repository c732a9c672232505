"""Claims 13 to 15: explanations after blocks are re-initialised."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..evidence import ARCHITECTURES, ATTACKED, ATTENTION, CAUSAL, SIZES, Evidence, Statement, show, statement
from .claim import claim, name


def _gradients_drop(e: Evidence, grids: Sequence[str], data: str = "sst") -> list[Statement]:
    def cascade(g: str, m: str) -> tuple[str, bool]:
        steps = [c.interval for c in e.rho(g, m, "cascading", data)][1:] or [e.rho(g, m, "cascading", data)[0].interval]
        worst = max(steps, key=lambda i: abs(i.value))
        return f"from the 2nd block on at most {show(worst, sign=True)}", all(
            i.low <= 0.2 and i.high >= -0.2 for i in steps
        )

    def alone(g: str, m: str) -> tuple[str, bool]:
        means = [c.interval.value for c in e.rho(g, m, "independent", data)]
        return f"mean over single blocks {np.mean(means):+.2f}", bool(abs(np.mean(means)) <= 0.2)

    return [
        statement(f"{data} {name(g, m)} {word}", lambda f=f, g=g, m=m: f(g, m))  # type: ignore[misc]
        for g in grids
        for m in ATTACKED
        for word, f in (("cascading", cascade), ("independent", alone))
    ]


@claim(13, "Gradient methods lose all correlation after one or two blocks", "sizes_cascading", "sizes_independent",
       "architectures_cascading", "architectures_independent", scaled=True)  # fmt: skip
def gradients_drop(e: Evidence) -> list[Statement]:
    """For gradients, gradient x input and IG on all eight models: cascading, from the second randomised block on
    every interval of rho overlaps with ± 0.2; independent, the mean rho over blocks lies in ± 0.2."""
    return _gradients_drop(e, (*SIZES, *ARCHITECTURES))


def _attention_decays(e: Evidence, grids: Sequence[str], data: str = "sst") -> list[Statement]:
    def gradual(g: str, m: str) -> tuple[str, bool]:
        means = [1.0, *(c.interval.value for c in e.rho(g, m, "cascading", data))]
        falls = -np.diff(means)
        share = float(falls.max() / max(1e-9, means[0] - min(means)))
        limit = 0.6 if len(means) > 3 else 1.0  # two blocks can only fall in two steps
        return f"1 to {means[-1]:+.2f}, largest step {share:.0%} of the fall", means[-1] < 0.5 and share <= limit

    def sudden(g: str) -> tuple[str, bool]:
        means = [c.interval.value for c in e.rho(g, "attention_rollout", "independent", data)]
        late = min(means[: len(means) // 2])
        return f"late half ≥ {late:+.2f}, first block {means[-1]:+.2f}", late >= 0.9 and means[-1] < 0.5

    def flat(g: str, m: str) -> tuple[str, bool]:
        lowest = min(c.interval.value for mode in ("cascading", "independent") for c in e.rho(g, m, mode, data))
        return f"lowest {lowest:+.2f} ≥ 0.9", lowest >= 0.9

    shallow = [g for g in grids if g in SIZES[:3]]  # at most four blocks; all others have at least six
    deep = [g for g in grids if g != CAUSAL and g not in shallow]
    falling = [(g, "average_attention") for g in (*shallow, *deep)] + [(g, "attention_rollout") for g in shallow]
    out = [statement(f"{data} {name(g, m)}", lambda g=g, m=m: gradual(g, m)) for g, m in falling]  # type: ignore[misc]
    out += [statement(f"{data} {name(g, 'attention_rollout')}", lambda g=g: sudden(g)) for g in deep]  # type: ignore[misc]
    if CAUSAL in grids:
        out += [statement(f"{data} {name(CAUSAL, m)}", lambda m=m: flat(CAUSAL, m)) for m in ATTENTION]  # type: ignore[misc]
    return out


@claim(14, "Average attention decays gradually, rollout suddenly, neither on GPT-2", "sizes_cascading",
       "sizes_independent", "architectures_cascading", "architectures_independent")  # fmt: skip
def attention_decays(e: Evidence) -> list[Statement]:
    """Average attention, cascading, all but the causal model, and rollout where there are at most four blocks: rho
    ends below 0.5 and no step takes over 60 % of the fall (two blocks: only the end counts). Rollout, independent,
    models of six and more blocks: rho ≥ 0.9 in the later half and < 0.5 at the first block. Causal model: both ≥ 0.9
    everywhere."""
    return _attention_decays(e, (*SIZES, *ARCHITECTURES))


@claim(15, "Randomisation looks the same on MultiNLI and e-SNLI", "mnli_cascading", "mnli_independent",
       "esnli_cascading", "esnli_independent", scaled=True)  # fmt: skip
def nli_randomisation(e: Evidence) -> list[Statement]:
    """The criteria of claims 13 and 14 on the four architectures, for both data sets."""
    out = []
    for data in ("mnli", "esnli"):
        out += [*_gradients_drop(e, ARCHITECTURES, data), *_attention_decays(e, ARCHITECTURES, data)]
    return out
