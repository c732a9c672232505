"""Claims 17 to 20 and 25: attacks. Their effects are judged where an attack changed enough explanations."""

from __future__ import annotations

from collections.abc import Sequence

from assay.statistics.claims import Count, Criterion, Statement

from ..evidence import ARCHITECTURES, ATTACKED, CAUSAL, GRADIENTS, SHORT, SIZES, Cell, Evidence, first_gap
from .claim import (
    GRADIENT_STEP,
    KEPT,
    LOGIT,
    MATCHED,
    claim,
    derived,
    difference,
    gap_statement,
    mean,
    name,
    span,
    state,
)

OBJECTIVES = {KEPT: "unconstrained", MATCHED: "constrained"}
RANKS, SUMS, DRIFT = "rank_change", "top_k_sum_change", "absolute_probability_change"
SLACK = 0.1  # of rank changes
STILL, MOVES = Criterion(high=0.05, margin=0.05), Criterion.above(0.05)  # of the probability
SUM_MARGIN = 0.01
READINGS = (LOGIT, GRADIENT_STEP)
CHANGED = Criterion(low=0.4, margin=SLACK)


def _effects(e: Evidence, grids: Sequence[str], data: Sequence[str] = ("sst",)) -> str:
    """How often attacks change the top words, and the rank change where they do it often enough."""
    shares = [e.effect(g, m, o, d) for d in data for g in grids for m in ATTACKED for o in OBJECTIVES]
    return f"top words changed in {span(shares)} of inputs"


def _rank_changes(e: Evidence, grids: Sequence[str], data: Sequence[str] = ("sst",)) -> str:
    return span(e.attack(g, m, o, RANKS, d) for d in data for g in grids for m in ATTACKED for o in OBJECTIVES)


def _sizes(e: Evidence) -> str:
    by_method = ", ".join(f"{SHORT[m]} {mean(e.attack(g, m, KEPT, RANKS) for g in SIZES)}" for m in ATTACKED)
    return f"{_effects(e, SIZES)}; rank change {_rank_changes(e, SIZES)} ({by_method})"


@claim(
    17,
    "Every explanation can be attacked; IG's ranks move least",
    "sizes_attack",
    "sizes_attack_logit",
    thesis="rank change at least 0.4; IG's lower, its sum change slightly higher",
    here=_sizes,
    readings=READINGS,
)
def attack_sizes(e: Evidence) -> list[Statement]:
    """At each size: rank change ≥ 0.4 (margin 0.1) for all three methods and both objectives; unconstrained, IG's rank
    change below (by 0.1) and its top-k sum change above (by 0.01) those of both gradient methods; rank change under
    both objectives alike (± 0.1) for gradient x input and IG, unconstrained above constrained for gradients (by 0.05).
    Attacks that changed the top words of less than a third of the inputs are not judged."""
    out = []
    for g in SIZES:
        hit = {(m, o): e.attack(g, m, o, RANKS) for m in ATTACKED for o in OBJECTIVES}
        sums = {m: e.attack(g, m, KEPT, SUMS) for m in ATTACKED}
        out += [state(f"{name(g, m)} {OBJECTIVES[o]} rank change", CHANGED, cell) for (m, o), cell in hit.items()]
        ig = ATTACKED[2]
        for m in GRADIENTS:
            text = f"{SHORT[m]} - IG {g} rank change"
            out.append(difference(text, Criterion.above(SLACK), hit[m, KEPT], hit[ig, KEPT]))
            out.append(difference(f"IG - {SHORT[m]} {g} sum change", Criterion.above(SUM_MARGIN), sums[ig], sums[m]))
        for m in ATTACKED:
            criterion = Criterion.above(0.05) if m == "gradient" else Criterion.alike(0.1)
            text = f"{name(g, m)} unconstrained - constrained rank change"
            out.append(difference(text, criterion, hit[m, KEPT], hit[m, MATCHED]))
    return out


def _drifts(e: Evidence) -> str:
    constrained = span(e.attack(g, m, MATCHED, DRIFT) for g in SIZES for m in ATTACKED)
    gradients = span(e.attack(g, m, KEPT, DRIFT) for g in SIZES for m in GRADIENTS)
    return f"|Δp| {constrained} constrained; {gradients} for unconstrained gradients; {_effects(e, SIZES)}"


@claim(
    18,
    "T5: constrained attacks do not change the probability",
    "sizes_attack",
    "sizes_attack_logit",
    thesis="|Δp| 0 when constrained and for IG; above 0 for unconstrained gradients",
    here=_drifts,
    readings=READINGS,
)
def attack_probability_sizes(e: Evidence) -> list[Statement]:
    """At each size the mean absolute change of probability is ≤ 0.05 (margin 0.05) for all constrained attacks and
    unconstrained IG, and ≥ 0.05 (surely above 0) for unconstrained gradients and gradient x input. Attacks that changed
    the top words of less than a third of the inputs are not judged."""
    return [
        state(
            f"{name(g, m)} {word} |Δp|",
            MOVES if o == KEPT and m in GRADIENTS else STILL,
            e.attack(g, m, o, DRIFT),
        )
        for g in SIZES
        for m in ATTACKED
        for o, word in OBJECTIVES.items()
    ]


def _architectures(e: Evidence) -> str:
    drifts = "; ".join(f"{OBJECTIVES[o]} {', '.join(_most(e, g, o) for g in ARCHITECTURES)}" for o in (MATCHED, KEPT))
    changes = _rank_changes(e, ARCHITECTURES)
    return f"rank change {changes}; largest |Δp| {drifts} (T5, RoBERTa, Llama, BERT); {_effects(e, ARCHITECTURES)}"


def _most(e: Evidence, grid: str, objective: str) -> str:
    means = [cell.mean for m in ATTACKED if (cell := e.attack(grid, m, objective, DRIFT)).gap is None]
    return f"{max(means):.2f}" if means else "–"


@claim(
    19,
    "Architectures: constrained attacks move RoBERTa and BERT",
    "architectures_attack",
    "architectures_attack_logit",
    thesis="rank change 0.4 to 1.0; constrained |Δp| above 0 on RoBERTa and BERT only, unconstrained on GPT-2 only",
    here=_architectures,
    readings=READINGS,
)
def attack_architectures(e: Evidence) -> list[Statement]:
    """Rank change ≥ 0.4 on all four (margin 0.1); the absolute change of probability is ≥ 0.05 (surely above 0) for
    constrained attacks on RoBERTa and BERT and unconstrained ones on the causal model, ≤ 0.05 (margin 0.05) for all
    others; the method with the largest change decides. Attacks that changed the top words of less than a third of the
    inputs are not judged."""
    out = []
    for g in ARCHITECTURES:
        for o, word in OBJECTIVES.items():
            moves = g in ("roberta", "bert") if o == MATCHED else g == CAUSAL
            out += [state(f"{name(g, m)} {word} rank change", CHANGED, e.attack(g, m, o, RANKS)) for m in ATTACKED]
            cells = [e.attack(g, m, o, DRIFT) for m in ATTACKED]
            judged = [cell for cell in cells if not cell.gap] or cells
            out.append(derived(f"{g} {word} largest |Δp|", MOVES if moves else STILL, judged, lambda m: m.max(0)))
    return out


def _nli(e: Evidence) -> str:
    by = {
        o: [e.attack(g, m, o, DRIFT, d) for d in ("mnli", "esnli") for g in ARCHITECTURES for m in ATTACKED]
        for o in OBJECTIVES
    }
    effects = _effects(e, ARCHITECTURES, ("mnli", "esnli"))
    return f"mean |Δp| {mean(by[KEPT])} unconstrained, {mean(by[MATCHED])} constrained; {effects}"


@claim(
    20,
    "NLI: the constrained objective changes probabilities much less",
    "mnli_attack",
    "esnli_attack",
    thesis="|Δp| much smaller when constrained, rank changes alike",
    here=_nli,
    readings=(LOGIT,),
)
def attack_nli(e: Evidence) -> list[Statement]:
    """On each architecture and both NLI sets, over the three methods: the absolute change of probability of
    unconstrained attacks above that of constrained ones (by 0.05), and rank changes of the two alike (± 0.2). Attacks
    that changed the top words of less than a third of the inputs are not judged."""
    out = []
    for data in ("mnli", "esnli"):
        for g in ARCHITECTURES:
            for m in ATTACKED:
                text = f"{data} {name(g, m)} unconstrained - constrained"
                drift, ranks = ([e.attack(g, m, o, x, data) for o in (KEPT, MATCHED)] for x in (DRIFT, RANKS))
                out.append(difference(f"{text} |Δp|", Criterion.above(0.05), *drift))
                out.append(difference(f"{text} rank change", Criterion.alike(0.2), *ranks))
    return out


def _lead(e: Evidence, grid: str, measure: str, sign: int) -> Cell:
    """How far IG is ahead of the better of the two gradient methods that could be attacked."""
    ig, *others = (e.attack(grid, m, KEPT, measure).times(sign) for m in reversed(ATTACKED))
    judged = [cell for cell in others if not cell.gap]
    if not judged or any(cell.gap is not None for cell in judged):
        return Cell(gap=first_gap(judged or others))
    return ig.minus(max(judged, key=lambda cell: cell.mean))


def _ig(e: Evidence) -> str:
    ranks = ", ".join(mean([_lead(e, g, RANKS, -1)]) for g in ARCHITECTURES)
    sums = ", ".join(mean([_lead(e, g, SUMS, 1)]) for g in ARCHITECTURES)
    return f"IG's rank change lower by {ranks}, its sum change higher by {sums} (T5, RoBERTa, Llama, BERT)"


@claim(
    25,
    "Architectures: IG has the lower rank change on two of four, the higher sum change",
    "architectures_attack",
    "architectures_attack_logit",
    thesis="lower on two of four, by small margins; sum change slightly higher",
    here=_ig,
    readings=READINGS,
)
def attack_ig(e: Evidence) -> list[Statement]:
    """Unconstrained: IG's rank change is below those of the other methods (by 0.02) on exactly two of the four
    architectures, and its top-k sum change above them (by 0.01) on each. Attacks that changed the top words of less
    than a third of the inputs are not judged."""
    leads = {g: _lead(e, g, RANKS, -1) for g in ARCHITECTURES}
    text, two = "architectures on which IG's rank change is the lowest", Criterion(2, 2)
    below = tuple(state(g, Criterion.above(0.02), lead) for g, lead in leads.items())
    out = [gap_statement(text, two, first_gap(leads.values())) or Statement(text, two, Count(below))]
    above = Criterion.above(SUM_MARGIN)
    return out + [state(f"IG {g} sum change above the others", above, _lead(e, g, SUMS, 1)) for g in ARCHITECTURES]
