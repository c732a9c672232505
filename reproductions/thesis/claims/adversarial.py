"""Claims 17 to 20 and 25: attacks."""

from __future__ import annotations

from collections.abc import Callable

from ..evidence import (
    ARCHITECTURES,
    ATTACKED,
    CAUSAL,
    GRADIENTS,
    SHORT,
    SIZES,
    Cell,
    Evidence,
    NotTestableError,
    Statement,
    above,
    alike,
    show,
    statement,
    within,
)
from .claim import KEPT, MATCHED, claim, name

OBJECTIVES = {KEPT: "unconstrained", MATCHED: "constrained"}


def _hit(e: Evidence, grid: str, method: str, objective: str, measure: str, data: str = "sst") -> Callable[[], Cell]:
    return lambda: e.attack(grid, method, objective, measure, data)


def _moved(e: Evidence, grid: str, method: str, measure: str, data: str = "sst") -> dict[str, Callable[[], Cell]]:
    """A measure by objective, if any attack changed a ranking; otherwise the objectives cannot be compared."""

    def cell(objective: str) -> Cell:
        ranks = [e.attack(grid, method, o, "rank_change", data) for o in OBJECTIVES]
        if not any(c.values.any() for c in ranks):
            raise NotTestableError("no attack changed a ranking")
        return e.attack(grid, method, objective, measure, data)

    return {objective: lambda o=objective: cell(o) for objective in OBJECTIVES}  # type: ignore[misc]


@claim(
    17, "Every explanation can be attacked; IG's ranks move least", "sizes_attack", "sizes_attack_logit", scaled=True
)
def attack_sizes(e: Evidence) -> list[Statement]:
    """At each size: rank change ≥ 0.4 for all three methods and both objectives; unconstrained, IG's rank change
    below and its top-k sum change above those of both gradient methods; rank change under both objectives alike
    (± 0.1) for gradient x input and IG, unconstrained above constrained for gradients. Where no attack on a method
    changed a ranking, the comparison of objectives is not testable."""
    out = []
    for g in SIZES:
        for o, word in OBJECTIVES.items():
            out += [
                within(f"{name(g, m)} {word} rank change", _hit(e, g, m, o, "rank_change"), low=0.4) for m in ATTACKED
            ]
        ig_rank, ig_sum = (_hit(e, g, ATTACKED[2], KEPT, x) for x in ("rank_change", "top_k_sum_change"))
        for m in GRADIENTS:
            out.append(above(f"{SHORT[m]}-IG {g} rank change", _hit(e, g, m, KEPT, "rank_change"), ig_rank))
            out.append(above(f"IG-{SHORT[m]} {g} sum change", ig_sum, _hit(e, g, m, KEPT, "top_k_sum_change")))
        for m in ATTACKED:
            pair = _moved(e, g, m, "rank_change").values()
            text = f"{name(g, m)} unconstrained-constrained"
            out.append(above(text, *pair) if m == "gradient" else alike(text, *pair, margin=0.1))
    return out


def _still(e: Evidence, g: str, m: str, o: str, *, moves: bool, data: str = "sst") -> Statement:
    """Whether an attack moves the probability by more than 0.05 on average (absolute change)."""

    def judge() -> tuple[str, bool]:
        i = _moved(e, g, m, "absolute_probability_change", data)[o]().interval
        return f"{show(i)} {'> 0.05' if moves else '≤ 0.05'}", i.low > 0.05 if moves else i.low <= 0.05

    return statement(f"{name(g, m)} {OBJECTIVES[o]} |Δp|", judge)


@claim(18, "T5: constrained attacks do not change the probability", "sizes_attack", "sizes_attack_logit", scaled=True)
def attack_probability_sizes(e: Evidence) -> list[Statement]:
    """At each size the mean absolute change of probability is ≤ 0.05 for all constrained attacks and unconstrained
    IG, and > 0.05 for unconstrained gradients and gradient x input. Where no attack on a method changed a ranking:
    not testable."""
    return [_still(e, g, m, o, moves=o == KEPT and m in GRADIENTS) for g in SIZES for m in ATTACKED for o in OBJECTIVES]


@claim(
    19,
    "Architectures: constrained attacks move RoBERTa and BERT",
    "architectures_attack",
    "architectures_attack_logit",
    scaled=True,
)
def attack_architectures(e: Evidence) -> list[Statement]:
    """Rank change ≥ 0.4 on all four; the absolute change of probability is > 0.05 for constrained attacks on
    RoBERTa and BERT and unconstrained ones on the causal model, ≤ 0.05 for all others; the method with the
    largest change decides."""
    out = []
    for g in ARCHITECTURES:
        for o, word in OBJECTIVES.items():
            moves = g in ("roberta", "bert") if o == MATCHED else g == CAUSAL
            out += [
                within(f"{name(g, m)} {word} rank change", _hit(e, g, m, o, "rank_change"), low=0.4) for m in ATTACKED
            ]
            out.append(statement(f"{g} {word} largest |Δp|", lambda g=g, o=o, v=moves: _largest(e, g, o, v)))  # type: ignore[misc]
    return out


def _largest(e: Evidence, grid: str, objective: str, moves: bool) -> tuple[str, bool]:
    intervals = [e.attack(grid, m, objective, "absolute_probability_change").interval for m in ATTACKED]
    largest = max(intervals, key=lambda i: i.value)
    return f"{show(largest)} {'> 0.05' if moves else '≤ 0.05'}", largest.low > 0.05 if moves else largest.low <= 0.05


@claim(20, "NLI: the constrained objective changes probabilities much less", "mnli_attack", "esnli_attack", scaled=True)
def attack_nli(e: Evidence) -> list[Statement]:
    """On each architecture and both NLI sets, over the three methods: the absolute change of probability of
    unconstrained attacks above that of constrained ones, and rank changes of the two alike (± 0.2)."""
    out = []
    for data in ("mnli", "esnli"):
        for g in ARCHITECTURES:
            for m in ATTACKED:
                p, r = "absolute_probability_change", "rank_change"
                text = f"{data} {name(g, m)} unconstrained-constrained"
                out.append(above(f"{text} |Δp|", _hit(e, g, m, KEPT, p, data), _hit(e, g, m, MATCHED, p, data)))
                out.append(alike(f"{text} rank", _hit(e, g, m, KEPT, r, data), _hit(e, g, m, MATCHED, r, data), 0.2))
    return out


@claim(
    25,
    "Architectures: IG has the lower rank change on two of four, the higher sum change",
    "architectures_attack",
    "architectures_attack_logit",
    scaled=True,
)
def attack_ig(e: Evidence) -> list[Statement]:
    """Unconstrained: IG's mean rank change is the lowest of the three methods on exactly two of the four
    architectures, and its top-k sum change the highest on all four. If no attack on gradients or gradient x input
    changed a ranking, rank changes are not testable."""

    def lead(measure: str, sign: int) -> list[str]:
        means = {g: {m: e.attack(g, m, KEPT, measure).interval.value for m in ATTACKED} for g in ARCHITECTURES}
        return [g for g, by in means.items() if max(by, key=lambda m: sign * by[m]) == "integrated_gradients"]

    def ranks() -> tuple[str, bool]:
        if not any(e.attack(g, m, KEPT, "rank_change").values.any() for g in ARCHITECTURES for m in GRADIENTS):
            raise NotTestableError("no attack on a gradient changed a ranking")
        leading = lead("rank_change", -1)
        return f"lowest on {len(leading)} of 4 ({', '.join(leading) or 'none'})", len(leading) == 2

    def sums() -> tuple[str, bool]:
        leading = lead("top_k_sum_change", 1)
        return f"highest on {len(leading)} of 4 ({', '.join(leading) or 'none'})", len(leading) == 4

    return [statement("IG rank change", ranks), statement("IG top-k sum change", sums)]
