"""The twenty-five claims of the thesis, each as a function of the evidence; its docstring is the criterion.

A claim is reproduced if every statement holds. "≈ x" and bounds: the 95 % interval over examples meets x ± 0.1 or the
bound. "above": the whole paired interval is above 0, and so is every training. "alike": it lies within a margin.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from evidence import (
    ARCHITECTURES,
    ATTENTION,
    CAUSAL,
    GRADIENTS,
    RESAMPLES,
    SHORT,
    SINGLE,
    SIZES,
    TOP,
    Cell,
    Evidence,
    NotRunYetError,
    NotTestableError,
    Part,
    above,
    alike,
    not_above,
    part,
    show,
    within,
)  # fmt: skip

from assay.statistics.bootstrap import interval

Verdict = Literal["reproduced", "not reproduced", "not testable here", "not run yet"]
GTO, RANK, COMP, SUFF = "ground_truth_overlap", "mean_rank_percentage", "comprehensiveness", "sufficiency"
KEPT, MATCHED = "prediction_kept", "probability_matched"  # the thesis's "unconstrained" and "constrained"
NEAR = 0.1
ENSEMBLES = ("thesis_top3", "thesis_all")
FEW = 10  # failures: fewer say nothing about what they share


@dataclass(frozen=True)
class Judged:
    """A claim after it was looked at."""

    number: int
    title: str
    criterion: str
    verdict: Verdict
    parts: tuple[Part, ...]
    figures: tuple[str, ...]


@dataclass(frozen=True)
class Claim:
    number: int
    title: str
    parts: Callable[[Evidence], Sequence[Part]]
    figures: tuple[str, ...]
    scaled: bool  # whether gradients of the logit may say something else

    def judge(self, evidence: Evidence) -> Judged:
        parts = tuple(self.parts(evidence))
        criterion = " ".join((self.parts.__doc__ or "").split())
        return Judged(self.number, self.title, criterion, verdict_of(parts), parts, self.figures)


def verdict_of(parts: Sequence[Part]) -> Verdict:
    """One statement that fails decides; else all must have been looked at."""
    if any(p.holds is False for p in parts):
        return "not reproduced"
    if not parts or any(p.holds is None and p.testable for p in parts):
        return "not run yet"
    return "reproduced" if all(p.holds for p in parts) else "not testable here"


CLAIMS: list[Claim] = []


def claim(number: int, title: str, *figures: str, scaled: bool = False):  # type: ignore[no-untyped-def]
    def add(function: Callable[[Evidence], Sequence[Part]]) -> Callable[[Evidence], Sequence[Part]]:
        CLAIMS.append(Claim(number, title, function, figures, scaled))
        return function

    return add


def _cell(e: Evidence, grid: str, method: str, metric: str, data: str = "sst") -> Callable[[], Cell]:
    return lambda: e.score(grid, method, metric, data)


def _name(grid: str, method: str, metric: str = "") -> str:
    return f"{SHORT[method]} {grid} {metric}".strip()


def _best(e: Evidence, grid: str, metric: str, methods: Sequence[str] = SINGLE, data: str = "sst") -> str:
    """The method with the best mean; sufficiency and rank are better when low."""
    sign = -1 if metric in (SUFF, RANK) else 1
    return max(methods, key=lambda m: sign * e.score(grid, m, metric, data).interval.value)


def _best_cell(e: Evidence, grid: str, metric: str, data: str = "sst") -> Callable[[], Cell]:
    return lambda: e.score(grid, _best(e, grid, metric, data=data), metric, data)


# --- augmented SST, scaling ------------------------------------------------------------------------------------------


@claim(1, "IG, LIME and SHAP find the cue at all sizes", "sizes_ground_truth", scaled=True)
def cue_found(e: Evidence) -> list[Part]:
    """Overlap of IG, LIME, SHAP ≥ 0.9 at each size (LIME on the smallest: 0.8); mean rank % at most 0.05 over
    E[1/n]."""
    out = []
    for grid in SIZES:
        for m in TOP:
            least = 0.8 if (m, grid) == ("lime", SIZES[0]) else 0.9
            out.append(within(_name(grid, m, "overlap"), _cell(e, grid, m, GTO), low=least))
            out.append(part(_name(grid, m, "rank"), lambda g=grid, m=m: _at_floor(e, g, m)))  # type: ignore[misc]
    return out


def _at_floor(e: Evidence, grid: str, method: str) -> tuple[str, bool]:
    found, floor = e.score(grid, method, RANK).interval, e.floor(grid)
    return f"{show(found)}, E[1/n] {floor:.2f}", found.low <= floor + 0.05


@claim(2, "Gradients are hardly better than random", "sizes_ground_truth", scaled=True)
def gradients_near_random(e: Evidence) -> list[Part]:
    """At all sizes but the smallest the overlap of both gradient methods is above random, and not by more than
    0.2."""
    out = []
    for grid in SIZES[1:]:
        for m in GRADIENTS:
            pair = (_cell(e, grid, m, GTO), _cell(e, grid, "random", GTO))
            out += [above(_name(grid, m), *pair), not_above(_name(grid, m), *pair, by=0.2)]
    return out


@claim(3, "Attention ranks the cue high but seldom first", "sizes_ground_truth")
def attention_second(e: Evidence) -> list[Part]:
    """Overlap of average attention ≥ 0.5 at the smallest size and ≤ 0.1 at others; of rollout ≥ 0.9 at the second
    and ≤ 0.1 at others; mean rank % of both ≤ 0.2 everywhere."""
    out = []
    for m, peak, least in (("average_attention", SIZES[0], 0.5), ("attention_rollout", SIZES[1], 0.9)):
        for grid in SIZES:
            bound = {"low": least} if grid == peak else {"high": 0.1}
            out.append(within(_name(grid, m, "overlap"), _cell(e, grid, m, GTO), **bound))
            out.append(within(_name(grid, m, "rank"), _cell(e, grid, m, RANK), high=0.2))
    return out


@claim(4, "Removing the cue costs half the confidence", "sizes_faithfulness", scaled=True)
def half_confidence(e: Evidence) -> list[Part]:
    """At each size: comprehensiveness of IG, LIME, SHAP ≈ 0.5 and sufficiency ≈ 0.1; comprehensiveness of the
    weakest of them above both attention methods, and of the better attention method above plain gradients."""
    out = []
    for grid in SIZES:
        for m in TOP:
            out.append(within(_name(grid, m, "comp"), _cell(e, grid, m, COMP), 0.5 - NEAR, 0.5 + NEAR))
            out.append(within(_name(grid, m, "suff"), _cell(e, grid, m, SUFF), 0.0, 0.1 + NEAR))
        out.append(part(f"{grid} order of comp", lambda g=grid: _order(e, g)))  # type: ignore[misc]
    return out


def _order(e: Evidence, grid: str) -> tuple[str, bool]:
    worst = min(TOP, key=lambda m: e.score(grid, m, COMP).interval.value)
    attention = _best(e, grid, COMP, ATTENTION)
    steps = ((worst, attention), (attention, "gradient"))
    gaps = [e.score(grid, a, COMP).minus(e.score(grid, b, COMP)).interval for a, b in steps]
    text = ", ".join(f"{SHORT[a]}-{SHORT[b]} {show(g, sign=True)}" for (a, b), g in zip(steps, gaps, strict=True))
    return text, all(g.low > 0 for g in gaps)


@claim(
    5, "Size has little effect; IG, LIME and SHAP stay on top", "sizes_ground_truth", "sizes_faithfulness", scaled=True
)
def size_hardly_matters(e: Evidence) -> list[Part]:
    """Overlap of each of IG, LIME, SHAP differs between sizes by at most 0.1 (interval of the range reaches 0.1),
    and at each size each of them has a comprehensiveness above that of every other method. Only SST has sizes
    here."""
    out = [part(f"{SHORT[m]} range of overlap", lambda m=m: _range(e, m)) for m in TOP]  # type: ignore[misc]
    for grid in SIZES:
        out += [
            above(f"{grid} {SHORT[m]}-{SHORT[o]} comp", _cell(e, grid, m, COMP), _cell(e, grid, o, COMP))
            for m in TOP
            for o in (*GRADIENTS, *ATTENTION)
        ]
    return out


def _range(e: Evidence, method: str) -> tuple[str, bool]:
    found = _over_examples([e.score(g, method, GTO) for g in SIZES], lambda m: m.max(0) - m.min(0))
    return f"{show(found)} ≤ 0.1", found.low <= 0.1


def _over_examples(cells: Sequence[Cell], statistic: Callable[[np.ndarray], np.ndarray]):  # type: ignore[no-untyped-def,type-arg]
    """Bootstrap over the examples that all cells share of a statistic of their means (K, ...)."""
    common = [x for x in cells[0].examples if all(x in set(c.examples) for c in cells)]
    table = np.array([c.values.mean(0)[[c.examples.index(x) for x in common]] for c in cells])  # (K,n)

    def of(index: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
        return statistic(table[:, index.astype(int)].mean(-1))

    return interval(np.arange(len(common), dtype=float), statistic=of, resamples=RESAMPLES, kind="percentile")


@claim(6, "MultiNLI: the same order, a little weaker", "mnli_faithfulness", scaled=True)
def mnli_weaker(e: Evidence) -> list[Part]:
    """On T5 (the pretrained one; sizes were not run): best comprehensiveness 0 to 0.2 below that on SST, best
    sufficiency 0 to 0.2 above, and SHAP the best of all in both."""

    def gap(metric: str, sign: int) -> tuple[str, bool]:
        here, there = (e.score("t5", _best(e, "t5", metric, data=d), metric, d).interval.value for d in ("mnli", "sst"))
        return f"{here:.2f} against {there:.2f}", 0 <= sign * (here - there) <= 0.2

    out = [part("best comp", lambda: gap(COMP, -1)), part("best suff", lambda: gap(SUFF, 1))]
    for metric, sign in ((COMP, 1), (SUFF, -1)):
        for m in (*TOP[:2], *GRADIENTS, *ATTENTION):
            pair = (_cell(e, "t5", m, metric, "mnli"), _cell(e, "t5", "kernel_shap", metric, "mnli"))
            out.append(not_above(f"{metric}: {SHORT[m]} against SHAP", *(pair if sign == 1 else pair[::-1])))
    return out


@claim(7, "e-SNLI: IG below LIME; plausibility of 40 %", "esnli_faithfulness", "esnli_plausibility", scaled=True)
def esnli_plausibility(e: Evidence) -> list[Part]:
    """On T5: comprehensiveness of LIME above IG; the best overlap with the annotators is IG's and ≈ 0.4, random ≈
    0.2 (± 0.05); mean rank % of at least four of the seven methods meets 0.6 .. 0.8."""
    cell = [_cell(e, "t5", m, COMP, "esnli") for m in ("lime", "integrated_gradients")]
    out = [above("LIME-IG comp", cell[0], cell[1])]
    out.append(within("IG overlap", _cell(e, "t5", "integrated_gradients", GTO, "esnli"), 0.3, 0.5))
    out.append(within("random overlap", _cell(e, "t5", "random", GTO, "esnli"), 0.15, 0.25))
    out += [
        not_above(f"{SHORT[m]}-IG overlap", _cell(e, "t5", m, GTO, "esnli"), _cell(e, "t5", TOP[0], GTO, "esnli"))
        for m in SINGLE[1:]
    ]

    def ranks() -> tuple[str, bool]:
        found = [e.score("t5", m, RANK, "esnli").interval for m in SINGLE]
        inside = sum(i.low <= 0.8 and i.high >= 0.6 for i in found)
        return f"{inside} of 7 in 0.6 .. 0.8", inside >= 4

    return [*out, part("mean rank %", ranks)]


# --- architectures ---------------------------------------------------------------------------------------------------


@claim(8, "Each of the top three has its own weak architecture", "architectures_ground_truth", scaled=True)
def weak_architectures(e: Evidence) -> list[Part]:
    """Overlap. IG: ≥ 0.8 on T5, the causal model and BERT, each above RoBERTa. LIME: ≥ 0.9 on T5, above RoBERTa
    and BERT, each of these above the causal model. SHAP: T5, RoBERTa, BERT alike (± 0.15), each above the
    causal model."""
    ig, lime, shap = TOP
    out = [within(_name(g, ig), _cell(e, g, ig, GTO), low=0.8) for g in ("t5", CAUSAL, "bert")]
    out += [
        above(f"IG {g}-roberta", _cell(e, g, ig, GTO), _cell(e, "roberta", ig, GTO)) for g in ("t5", CAUSAL, "bert")
    ]
    out.append(within(_name("t5", lime), _cell(e, "t5", lime, GTO), low=0.9))
    for g in ("roberta", "bert"):
        out.append(above(f"LIME t5-{g}", _cell(e, "t5", lime, GTO), _cell(e, g, lime, GTO)))
        out.append(above(f"LIME {g}-{CAUSAL}", _cell(e, g, lime, GTO), _cell(e, CAUSAL, lime, GTO)))
    others = ("t5", "roberta", "bert")
    out += [
        alike(f"SHAP {a}-{b}", _cell(e, a, shap, GTO), _cell(e, b, shap, GTO), 0.15) for a, b in combinations(others, 2)
    ]
    return out + [above(f"SHAP {g}-{CAUSAL}", _cell(e, g, shap, GTO), _cell(e, CAUSAL, shap, GTO)) for g in others]


@claim(9, "Gradients are below random on GPT-2 and BERT", "architectures_ground_truth", scaled=True)
def gradients_by_architecture(e: Evidence) -> list[Part]:
    """Overlap of plain gradients above random on T5 and RoBERTa, below on the causal model and BERT; gradient x
    input above random on all four."""
    out = []
    for g in ARCHITECTURES:
        mine, chance = _cell(e, g, "gradient", GTO), _cell(e, g, "random", GTO)
        first, second, text = (mine, chance, "Grad-random") if g in ("t5", "roberta") else (chance, mine, "random-Grad")
        out.append(above(f"{text} {g}", first, second))
        out.append(above(f"GxI-random {g}", _cell(e, g, "gradient_x_input", GTO), chance))
    return out


@claim(10, "Attention never puts the cue first; last on GPT-2", "architectures_ground_truth")
def attention_by_architecture(e: Evidence) -> list[Part]:
    """Overlap of both attention methods ≤ 0.1 on all four; mean rank % of both ≥ 0.9 on the causal model; rollout
    ranks the cue better than random on T5 only, average attention on all but the causal model."""
    out = [within(_name(g, m, "overlap"), _cell(e, g, m, GTO), high=0.1) for g in ARCHITECTURES for m in ATTENTION]
    out += [within(_name(CAUSAL, m, "rank"), _cell(e, CAUSAL, m, RANK), low=0.9) for m in ATTENTION]
    for m, good in (("attention_rollout", ("t5",)), ("average_attention", ("t5", "roberta", "bert"))):
        for g in ARCHITECTURES:
            judge = above if g in good else not_above
            out.append(judge(f"random-{SHORT[m]} {g} rank", _cell(e, g, "random", RANK), _cell(e, g, m, RANK)))
    return out


@claim(11, "On GPT-2 faithfulness tells no method from random", "architectures_faithfulness", "mnli_faithfulness",
       "esnli_faithfulness", scaled=True)  # fmt: skip
def causal_flat(e: Evidence) -> list[Part]:
    """On the causal model comprehensiveness and sufficiency of every method are alike random (± 0.1) on SST; on
    MultiNLI comprehensiveness of IG and SHAP, on e-SNLI of LIME and IG, is above random."""
    out = []
    for m in SINGLE:
        for metric in (COMP, SUFF):
            pair = (_cell(e, CAUSAL, m, metric), _cell(e, CAUSAL, "random", metric))
            out.append(alike(f"{SHORT[m]}-random {metric}", *pair, margin=0.1))
    for data, methods in (("mnli", (TOP[0], TOP[2])), ("esnli", (TOP[1], TOP[0]))):
        for m in methods:
            pair = (_cell(e, CAUSAL, m, COMP, data), _cell(e, CAUSAL, "random", COMP, data))
            out.append(above(f"{data} {SHORT[m]}-random comp", *pair))
    return out


@claim(12, "RoBERTa and BERT differ by 20 points on MultiNLI; plausibility stays in the low 40s", "mnli_faithfulness",
       "esnli_plausibility", scaled=True)  # fmt: skip
def nli_architectures(e: Evidence) -> list[Part]:
    """Best comprehensiveness of RoBERTa and BERT on MultiNLI differs by 0.1 to 0.3; no overlap with the annotators
    is above 0.45 on any architecture; on the causal model none is above IG's."""

    def gap() -> tuple[str, bool]:
        both = [_best_cell(e, g, COMP, "mnli")().interval.value for g in ("roberta", "bert")]
        return f"{both[0]:.2f} and {both[1]:.2f}", 0.1 <= abs(both[0] - both[1]) <= 0.3

    out = [part("comp of RoBERTa and BERT", gap)]
    out += [
        within(f"{_name(g, m)} plausibility", _cell(e, g, m, GTO, "esnli"), high=0.45)
        for g in ARCHITECTURES
        for m in SINGLE
    ]
    ig = _cell(e, CAUSAL, TOP[0], GTO, "esnli")
    return out + [not_above(f"{SHORT[m]}-IG {CAUSAL}", _cell(e, CAUSAL, m, GTO, "esnli"), ig) for m in SINGLE[1:]]


# --- randomisation ---------------------------------------------------------------------------------------------------


def _gradients_drop(e: Evidence, grids: Sequence[str], data: str = "sst") -> list[Part]:
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
        part(f"{data} {_name(g, m)} {word}", lambda f=f, g=g, m=m: f(g, m))  # type: ignore[misc]
        for g in grids
        for m in (*GRADIENTS, "integrated_gradients")
        for word, f in (("cascading", cascade), ("independent", alone))
    ]


@claim(13, "Gradient methods lose all correlation after one or two blocks", "sizes_cascading", "sizes_independent",
       "architectures_cascading", "architectures_independent")  # fmt: skip
def gradients_drop(e: Evidence) -> list[Part]:
    """For gradients, gradient x input and IG on all eight models: cascading, from the second randomised block on
    every interval of rho meets ± 0.2; independent, the mean rho over blocks lies in ± 0.2."""
    return _gradients_drop(e, (*SIZES, *ARCHITECTURES))


def _attention_decays(e: Evidence, grids: Sequence[str], data: str = "sst") -> list[Part]:
    def gradual(g: str) -> tuple[str, bool]:
        means = [1.0, *(c.interval.value for c in e.rho(g, "average_attention", "cascading", data))]
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

    out = [part(f"{data} {_name(g, 'average_attention')}", lambda g=g: gradual(g)) for g in grids if g != CAUSAL]  # type: ignore[misc]
    deep = [g for g in grids if g != CAUSAL and g not in SIZES[:3]]  # at least six blocks
    out += [part(f"{data} {_name(g, 'attention_rollout')}", lambda g=g: sudden(g)) for g in deep]  # type: ignore[misc]
    if CAUSAL in grids:
        out += [part(f"{data} {_name(CAUSAL, m)}", lambda m=m: flat(CAUSAL, m)) for m in ATTENTION]  # type: ignore[misc]
    return out


@claim(14, "Average attention decays gradually, rollout suddenly, neither on GPT-2", "sizes_cascading",
       "sizes_independent", "architectures_cascading", "architectures_independent")  # fmt: skip
def attention_decays(e: Evidence) -> list[Part]:
    """Average attention, cascading, all but the causal model: rho ends below 0.5 and no step takes over 60 % of
    the fall. Rollout, independent, models of six and more blocks: rho ≥ 0.9 in the later half and < 0.5 at the
    first block. Causal model: both ≥ 0.9 everywhere."""
    return _attention_decays(e, (*SIZES, *ARCHITECTURES))


@claim(15, "Randomisation looks the same on MultiNLI and e-SNLI", "mnli_cascading", "esnli_cascading")
def nli_randomisation(e: Evidence) -> list[Part]:
    """The criteria of claims 13 and 14 on the four architectures, for both data sets."""
    out = []
    for data in ("mnli", "esnli"):
        out += [*_gradients_drop(e, ARCHITECTURES, data), *_attention_decays(e, ARCHITECTURES, data)]
    return out


# --- ensembles -------------------------------------------------------------------------------------------------------


@claim(16, "Ensembles equal the best method and improve nothing", "sizes_ensembles", "architectures_ensembles",
       scaled=False)  # fmt: skip
def ensembles_equal(e: Evidence) -> list[Part]:
    """Overlap of both ensembles no more than 0.05 below the best single method (the lower bound of "best -
    ensemble" is ≤ 0.05) on all eight models, but for the all-method ensemble on the causal model, which is over
    0.2 below it with a mean rank % ≤ 0.3; comprehensiveness of no ensemble above the best single method."""
    out = []
    for g in (*SIZES, *ARCHITECTURES):
        for m in ENSEMBLES:
            odd = (g, m) == (CAUSAL, "thesis_all")
            judge, by = (above, 0.2) if odd else (not_above, 0.05)
            out.append(judge(f"best-{_name(g, m)} overlap", _best_cell(e, g, GTO), _cell(e, g, m, GTO), by))
            out.append(not_above(f"{_name(g, m)}-best comp", _cell(e, g, m, COMP), _best_cell(e, g, COMP)))
            if odd:
                out.append(within(f"{_name(g, m)} rank", _cell(e, g, m, RANK), high=0.3))
    return out


# --- adversarial -----------------------------------------------------------------------------------------------------

ATTACKED = (*GRADIENTS, "integrated_gradients")
OBJECTIVES = {KEPT: "unconstrained", MATCHED: "constrained"}


def _hit(e: Evidence, grid: str, method: str, objective: str, measure: str, data: str = "sst") -> Callable[[], Cell]:
    return lambda: e.attack(grid, method, objective, measure, data)


@claim(17, "Every explanation can be attacked; IG's ranks move least", "sizes_attack")
def attack_sizes(e: Evidence) -> list[Part]:
    """At each size: rank change ≥ 0.4 for all three methods and both objectives; unconstrained, IG's rank change
    below and its top-k sum change above those of both gradient methods; rank change under both objectives alike
    (± 0.1) for gradient x input and IG, unconstrained above constrained for gradients."""
    out = []
    for g in SIZES:
        for o, word in OBJECTIVES.items():
            out += [
                within(f"{_name(g, m)} {word} rank change", _hit(e, g, m, o, "rank_change"), low=0.4) for m in ATTACKED
            ]
        ig_rank, ig_sum = (_hit(e, g, ATTACKED[2], KEPT, x) for x in ("rank_change", "top_k_sum_change"))
        for m in GRADIENTS:
            out.append(above(f"{SHORT[m]}-IG {g} rank change", _hit(e, g, m, KEPT, "rank_change"), ig_rank))
            out.append(above(f"IG-{SHORT[m]} {g} sum change", ig_sum, _hit(e, g, m, KEPT, "top_k_sum_change")))
        for m in ATTACKED:
            pair = [_hit(e, g, m, o, "rank_change") for o in (KEPT, MATCHED)]
            text = f"{_name(g, m)} unconstrained-constrained"
            out.append(above(text, *pair) if m == "gradient" else alike(text, *pair, margin=0.1))
    return out


def _still(e: Evidence, g: str, m: str, o: str, *, moves: bool, data: str = "sst") -> Part:
    """Whether an attack moves the probability by more than 0.05 on average (absolute change)."""

    def judge() -> tuple[str, bool]:
        found = e.attack(g, m, o, "absolute_probability_change", data).interval
        return f"{show(found)} {'> 0.05' if moves else '≤ 0.05'}", found.low > 0.05 if moves else found.low <= 0.05

    return part(f"{_name(g, m)} {OBJECTIVES[o]} |Δp|", judge)


@claim(18, "T5: constrained attacks leave the probability alone", "sizes_attack")
def attack_probability_sizes(e: Evidence) -> list[Part]:
    """At each size the mean absolute change of probability is ≤ 0.05 for all constrained attacks and unconstrained
    IG, and > 0.05 for unconstrained gradients and gradient x input."""
    return [_still(e, g, m, o, moves=o == KEPT and m in GRADIENTS) for g in SIZES for m in ATTACKED for o in OBJECTIVES]


@claim(19, "Architectures: constrained attacks move RoBERTa and BERT", "architectures_attack")
def attack_architectures(e: Evidence) -> list[Part]:
    """Rank change ≥ 0.4 on all four; the absolute change of probability is > 0.05 for constrained attacks on
    RoBERTa and BERT and unconstrained ones on the causal model, ≤ 0.05 for all others; at least one method
    decides each."""
    out = []
    for g in ARCHITECTURES:
        for o, word in OBJECTIVES.items():
            moves = g in ("roberta", "bert") if o == MATCHED else g == CAUSAL
            out += [
                within(f"{_name(g, m)} {word} rank change", _hit(e, g, m, o, "rank_change"), low=0.4) for m in ATTACKED
            ]
            out.append(part(f"{g} {word} largest |Δp|", lambda g=g, o=o, v=moves: _largest(e, g, o, v)))  # type: ignore[misc]
    return out


def _largest(e: Evidence, grid: str, objective: str, moves: bool) -> tuple[str, bool]:
    found = [e.attack(grid, m, objective, "absolute_probability_change").interval for m in ATTACKED]
    most = max(found, key=lambda i: i.value)
    return f"{show(most)} {'> 0.05' if moves else '≤ 0.05'}", most.low > 0.05 if moves else most.low <= 0.05


@claim(20, "NLI: the constrained objective changes probabilities much less", "mnli_attack", "esnli_attack")
def attack_nli(e: Evidence) -> list[Part]:
    """On each architecture and both NLI sets, over the three methods: the absolute change of probability of
    unconstrained attacks above that of constrained ones, and rank changes of the two alike (± 0.2)."""
    out = []
    for data in ("mnli", "esnli"):
        for g in ARCHITECTURES:
            for m in ATTACKED:
                p, r = "absolute_probability_change", "rank_change"
                text = f"{data} {_name(g, m)} unconstrained-constrained"
                out.append(above(f"{text} |Δp|", _hit(e, g, m, KEPT, p, data), _hit(e, g, m, MATCHED, p, data)))
                out.append(alike(f"{text} rank", _hit(e, g, m, KEPT, r, data), _hit(e, g, m, MATCHED, r, data), 0.2))
    return out


# --- across experiments ----------------------------------------------------------------------------------------------


@claim(21, "Architectures differ more than sizes", "sizes_ground_truth", "architectures_ground_truth",
       "sizes_faithfulness", "architectures_faithfulness", scaled=True)  # fmt: skip
def spread_of_axes(e: Evidence) -> list[Part]:
    """For each of the four metrics: mean over the seven methods of the standard deviation of the four
    architectures' means, minus that of the four sizes' means; the whole bootstrap interval over examples is
    above 0."""
    return [part(f"{metric}:", lambda metric=metric: _spreads(e, metric)) for metric in (GTO, RANK, COMP, SUFF)]  # type: ignore[misc]


def _spreads(e: Evidence, metric: str) -> tuple[str, bool]:
    cells = [e.score(g, m, metric) for m in SINGLE for g in (*ARCHITECTURES, *SIZES)]

    def spread(means: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
        both = means.reshape(len(SINGLE), 2, 4, *means.shape[1:]).std(2).mean(0)  # (2, ...)
        return both[0] - both[1]

    found = _over_examples(cells, spread)
    return f"difference of spreads {show(found, sign=True)} > 0", found.low > 0


@claim(22, "IG is the cheapest of the top three at equal quality", "architectures_ground_truth")
def ig_cheapest(e: Evidence) -> list[Part]:
    """On each of the eight models IG needs fewer passes (forward + backward, per example) than LIME and SHAP; at
    the four sizes (on architectures claim 8 itself says otherwise) its overlap and comprehensiveness are not
    shown to be over 0.05 below the better of the two."""
    out = []
    for g in (*SIZES, *ARCHITECTURES):
        out.append(part(f"{g} passes:", lambda g=g: _passes(e, g)))  # type: ignore[misc]
        for metric in (GTO, COMP) if g in SIZES else ():
            best = lambda g=g, x=metric: e.score(g, _best(e, g, x, TOP[1:]), x)  # type: ignore[misc]  # noqa: E731
            out.append(not_above(f"{g} better of LIME, SHAP - IG {metric}", best, _cell(e, g, TOP[0], metric), by=0.05))
    return out


def _passes(e: Evidence, grid: str) -> tuple[str, bool]:
    try:
        found = {m: e.passes["sst", grid, m] for m in TOP}
    except KeyError as error:
        raise NotRunYetError(grid) from error
    text = ", ".join(f"{SHORT[m]} {f:.0f} forward + {b:.0f} backward" for m, (f, b) in found.items())
    total = {m: sum(found[m]) for m in TOP}
    return text, total[TOP[0]] < min(total[m] for m in TOP[1:])


@claim(23, "Ensembles do not help because methods fail together", "sizes_ensembles", "architectures_ensembles")
def shared_errors(e: Evidence) -> list[Part]:
    """An error is an example whose cue is not ranked first. For the members of each ensemble (IG, LIME, SHAP; all
    seven), pooled over models: the mean over pairs of |both fail| / |one fails| is above what independent
    failures would give (interval over examples), and at least 0.5. Under ten failures in the worst member's
    union: not testable."""
    grids = (*SIZES, *ARCHITECTURES)
    return [
        part(f"{word}:", lambda members=members: _overlap(e, grids, members))  # type: ignore[misc]
        for word, members in (("IG, LIME, SHAP", TOP), ("all seven", SINGLE))
    ]


def _overlap(e: Evidence, grids: Sequence[str], members: Sequence[str]) -> tuple[str, bool]:
    """Per pair and model a Jaccard index of failures, minus that of independent ones, p q / (p + q - p q)."""
    fails = np.array([[1 - e.score(g, m, GTO).values.mean(0) for m in members] for g in grids])  # (G,K,n)
    seen = (fails > 0.5).astype(float)  # fails in most trainings
    if seen.max(1).sum() < FEW:
        raise NotTestableError(f"only {seen.max(1).sum():.0f} failures")
    pairs = list(combinations(range(len(members)), 2))

    def jaccard(index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:  # type: ignore[type-arg]
        drawn = seen[:, :, index.astype(int)]  # (G,K,...,n)
        both = np.mean([(drawn[:, a] * drawn[:, b]).mean(-1) for a, b in pairs], 0).mean(0)
        either = np.mean([np.maximum(drawn[:, a], drawn[:, b]).mean(-1) for a, b in pairs], 0).mean(0)
        p = drawn.mean(-1)
        chance_both = np.mean([p[:, a] * p[:, b] for a, b in pairs], 0).mean(0)
        chance_either = np.mean([p[:, a] + p[:, b] - p[:, a] * p[:, b] for a, b in pairs], 0).mean(0)
        return both / np.maximum(either, 1e-12), chance_both / np.maximum(chance_either, 1e-12)

    whole, chance = jaccard(np.arange(seen.shape[-1]))
    gap = interval(np.arange(seen.shape[-1], dtype=float), resamples=500, kind="percentile",
                   statistic=lambda i: np.subtract(*jaccard(i)))  # fmt: skip
    text = f"shared {whole:.0%} of failures, {chance:.0%} if independent, difference {show(gap, sign=True)}"
    return text, bool(gap.low > 0 and whole >= 0.5)


@claim(24, "Attention slightly beats plain gradients, except on GPT-2", "sizes_faithfulness",
       "architectures_faithfulness", scaled=True)  # fmt: skip
def attention_beats_gradients(e: Evidence) -> list[Part]:
    """Mean rank % and comprehensiveness of the better attention method are better than those of plain gradients on
    the seven models that are not causal, and not on the causal one."""
    out = []
    for g in (*SIZES, *ARCHITECTURES):
        judge = not_above if g == CAUSAL else above
        for metric in (COMP, RANK):
            better = lambda g=g, x=metric: e.score(g, _best(e, g, x, ATTENTION), x)  # type: ignore[misc]  # noqa: E731
            pair = (better, _cell(e, g, "gradient", metric))
            first, second = pair if metric == COMP else pair[::-1]
            out.append(judge(f"{g} attention better than Grad, {metric}", first, second))
    return out


@claim(25, "Architectures: IG has the lower rank change on two of four, the higher sum change", "architectures_attack")
def attack_ig(e: Evidence) -> list[Part]:
    """Unconstrained: IG's mean rank change is the lowest of the three methods on exactly two of the four
    architectures, and its top-k sum change the highest on all four."""

    def lead(measure: str, sign: int) -> list[str]:
        means = {g: {m: e.attack(g, m, KEPT, measure).interval.value for m in ATTACKED} for g in ARCHITECTURES}
        return [g for g, found in means.items() if max(found, key=lambda m: sign * found[m]) == "integrated_gradients"]

    def ranks() -> tuple[str, bool]:
        found = lead("rank_change", -1)
        return f"lowest on {len(found)} of 4 ({', '.join(found) or 'none'})", len(found) == 2

    def sums() -> tuple[str, bool]:
        found = lead("top_k_sum_change", 1)
        return f"highest on {len(found)} of 4 ({', '.join(found) or 'none'})", len(found) == 4

    return [part("IG rank change", ranks), part("IG top-k sum change", sums)]
