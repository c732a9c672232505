"""Claims 8 to 12: four architectures of similar size."""

from __future__ import annotations

from itertools import combinations

from ..evidence import (
    ARCHITECTURES,
    ATTENTION,
    CAUSAL,
    SHORT,
    SINGLE,
    TOP,
    Evidence,
    Statement,
    above,
    alike,
    not_above,
    statement,
    within,
)
from .claim import COMP, GTO, RANK, SUFF, best_cell, cell, claim, name, short


@claim(8, "Each of the top three has its own weak architecture", "architectures_ground_truth", scaled=True)
def weak_architectures(e: Evidence) -> list[Statement]:
    """Overlap. IG: ≥ 0.8 on T5, the causal model and BERT, each above RoBERTa. LIME: ≥ 0.9 on T5, above RoBERTa
    and BERT, each of these above the causal model. SHAP: T5, RoBERTa, BERT alike (± 0.15), each above the
    causal model."""
    ig, lime, shap = TOP
    out = [within(name(g, ig), cell(e, g, ig, GTO), low=0.8) for g in ("t5", CAUSAL, "bert")]
    out += [above(f"IG {g}-roberta", cell(e, g, ig, GTO), cell(e, "roberta", ig, GTO)) for g in ("t5", CAUSAL, "bert")]
    out.append(within(name("t5", lime), cell(e, "t5", lime, GTO), low=0.9))
    for g in ("roberta", "bert"):
        out.append(above(f"LIME t5-{g}", cell(e, "t5", lime, GTO), cell(e, g, lime, GTO)))
        out.append(above(f"LIME {g}-{CAUSAL}", cell(e, g, lime, GTO), cell(e, CAUSAL, lime, GTO)))
    others = ("t5", "roberta", "bert")
    out += [
        alike(f"SHAP {a}-{b}", cell(e, a, shap, GTO), cell(e, b, shap, GTO), 0.15) for a, b in combinations(others, 2)
    ]
    return out + [above(f"SHAP {g}-{CAUSAL}", cell(e, g, shap, GTO), cell(e, CAUSAL, shap, GTO)) for g in others]


@claim(9, "Gradients are below random on GPT-2 and BERT", "architectures_ground_truth", scaled=True)
def gradients_by_architecture(e: Evidence) -> list[Statement]:
    """Overlap of plain gradients above random on T5 and RoBERTa, below on the causal model and BERT; gradient x
    input slightly above random on all four: above, but not significantly by more than 0.2."""
    out = []
    for g in ARCHITECTURES:
        gradient, chance = cell(e, g, "gradient", GTO), cell(e, g, "random", GTO)
        grad, up = short("gradient", g), g in ("t5", "roberta")
        pair = (gradient, chance) if up else (chance, gradient)
        out.append(above(f"{grad}-random {g}" if up else f"random-{grad} {g}", *pair))
        out.append(above(f"GxI-random {g}", cell(e, g, "gradient_x_input", GTO), chance))
        out.append(not_above(f"GxI-random {g}", cell(e, g, "gradient_x_input", GTO), chance, by=0.2))
    return out


@claim(10, "Attention never puts the cue first; last on GPT-2", "architectures_ground_truth")
def attention_by_architecture(e: Evidence) -> list[Statement]:
    """Overlap of both attention methods ≤ 0.1 on all four; mean rank % of both ≥ 0.9 on the causal model; rollout
    ranks the cue better than random on T5 only, average attention on all but the causal model."""
    out = [within(name(g, m, "overlap"), cell(e, g, m, GTO), high=0.1) for g in ARCHITECTURES for m in ATTENTION]
    out += [within(name(CAUSAL, m, "rank"), cell(e, CAUSAL, m, RANK), low=0.9) for m in ATTENTION]
    for m, good in (("attention_rollout", ("t5",)), ("average_attention", ("t5", "roberta", "bert"))):
        for g in ARCHITECTURES:
            judge = above if g in good else not_above
            out.append(judge(f"random-{short(m, g)} {g} rank", cell(e, g, "random", RANK), cell(e, g, m, RANK)))
    return out


@claim(11, "On GPT-2 no method is more faithful than random", "architectures_faithfulness", "mnli_faithfulness",
       "esnli_faithfulness", scaled=True)  # fmt: skip
def causal_flat(e: Evidence) -> list[Statement]:
    """On the causal model comprehensiveness and sufficiency of every method are alike random (± 0.1) on SST; on
    MultiNLI comprehensiveness of IG and SHAP, on e-SNLI of LIME and IG, is ahead: above random, and no other
    method is significantly above them."""
    out = []
    for m in SINGLE:
        for metric in (COMP, SUFF):
            pair = (cell(e, CAUSAL, m, metric), cell(e, CAUSAL, "random", metric))
            out.append(alike(f"{SHORT[m]}-random {metric}", *pair, margin=0.1))
    for data, methods in (("mnli", (TOP[0], TOP[2])), ("esnli", (TOP[1], TOP[0]))):
        for m in methods:
            pair = (cell(e, CAUSAL, m, COMP, data), cell(e, CAUSAL, "random", COMP, data))
            out.append(above(f"{data} {SHORT[m]}-random comp", *pair))
            for other in (x for x in SINGLE if x not in methods):
                pair = (cell(e, CAUSAL, other, COMP, data), cell(e, CAUSAL, m, COMP, data))
                out.append(not_above(f"{data} {SHORT[other]}-{SHORT[m]} comp", *pair))
    return out


@claim(12, "RoBERTa and BERT differ by 20 points on MultiNLI; plausibility stays in the low 40s", "mnli_faithfulness",
       "esnli_plausibility", scaled=True)  # fmt: skip
def nli_architectures(e: Evidence) -> list[Statement]:
    """Best comprehensiveness of RoBERTa and BERT on MultiNLI differs by 0.1 to 0.3; no overlap with the annotators
    is above 0.45 on any architecture; on the causal model none is above IG's."""

    def gap() -> tuple[str, bool]:
        both = [best_cell(e, g, COMP, "mnli")().interval.value for g in ("roberta", "bert")]
        return f"{both[0]:.2f} and {both[1]:.2f}", 0.1 <= abs(both[0] - both[1]) <= 0.3

    out = [statement("comp of RoBERTa and BERT", gap)]
    out += [
        within(f"{name(g, m)} plausibility", cell(e, g, m, GTO, "esnli"), high=0.45)
        for g in ARCHITECTURES
        for m in SINGLE
    ]
    ig = cell(e, CAUSAL, TOP[0], GTO, "esnli")
    return out + [not_above(f"{SHORT[m]}-IG {CAUSAL}", cell(e, CAUSAL, m, GTO, "esnli"), ig) for m in SINGLE[1:]]
