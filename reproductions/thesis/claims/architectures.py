"""Claims 8 to 12: four architectures of similar size."""

from __future__ import annotations

from itertools import combinations

from assay.statistics.claims import Criterion, Statement

from ..evidence import ARCHITECTURES, ATTENTION, CAUSAL, NAMES, SHORT, SINGLE, TOP, Evidence
from .claim import (
    COMP,
    FIRST,
    GTO,
    LOGIT,
    MARGINS,
    RANK,
    RANKED,
    SLACK,
    SLIGHT,
    SUFF,
    WORDS,
    best,
    claim,
    difference,
    mean,
    name,
    span,
    state,
)


def _by_model(e: Evidence, method: str, metric: str, data: str = "sst") -> str:
    return ", ".join(mean([e.score(g, method, metric, data)]) for g in ARCHITECTURES)


def _weak(e: Evidence) -> str:
    return "; ".join(f"{SHORT[m]} {_by_model(e, m, GTO)}" for m in TOP) + " (T5, RoBERTa, Llama, BERT)"


@claim(
    8,
    "Each of the top three has its own weak architecture",
    "architectures_ground_truth",
    thesis="IG weak on RoBERTa, LIME and SHAP on GPT-2",
    here=_weak,
    readings=(LOGIT,),
)
def weak_architectures(e: Evidence) -> list[Statement]:
    """Overlap. IG: ≥ 0.8 on T5, the causal model and BERT (margin 0.05), each above RoBERTa. LIME: ≥ 0.9 on T5, above
    RoBERTa and BERT, each of these above the causal model. SHAP: T5, RoBERTa, BERT alike (± 0.15), each above the
    causal model. "Above": by 0.05."""
    ig, lime, shap = ({g: e.score(g, m, GTO) for g in ARCHITECTURES} for m in TOP)
    above, good = Criterion.above(MARGINS[GTO]), ("t5", CAUSAL, "bert")
    out = [state(name(g, TOP[0]), Criterion(low=0.8, margin=SLACK), ig[g]) for g in good]
    out += [difference(f"IG {g} - roberta", above, ig[g], ig["roberta"]) for g in good]
    out.append(state(name("t5", TOP[1]), Criterion(low=0.9, margin=SLACK), lime["t5"]))
    for g in ("roberta", "bert"):
        out.append(difference(f"LIME t5 - {g}", above, lime["t5"], lime[g]))
        out.append(difference(f"LIME {g} - {CAUSAL}", above, lime[g], lime[CAUSAL]))
    others = ("t5", "roberta", "bert")
    alike = Criterion.alike(0.15)
    out += [difference(f"SHAP {a} - {b}", alike, shap[a], shap[b]) for a, b in combinations(others, 2)]
    return out + [difference(f"SHAP {g} - {CAUSAL}", above, shap[g], shap[CAUSAL]) for g in others]


def _gradients(e: Evidence) -> str:
    def against(method: str) -> str:
        gaps = {g: e.score(g, method, GTO).minus(e.score(g, "random", GTO)) for g in ARCHITECTURES}
        return ", ".join(f"{NAMES[g].partition(' ')[0]} {mean([gap])}" for g, gap in gaps.items() if gap.gap is None)

    return f"overlap above random: Grad {against('gradient') or '–'}; GxI {against('gradient_x_input') or '–'}"


@claim(
    9,
    "Gradients are below random on GPT-2 and BERT",
    "architectures_ground_truth",
    thesis="Grad above random on T5 and RoBERTa, below on GPT-2 and BERT; GxI slightly above on all",
    here=_gradients,
    readings=(LOGIT,),
    version=FIRST,
)
def gradients_by_architecture(e: Evidence, first: bool) -> list[Statement]:
    """Overlap of plain gradients above random on T5 and RoBERTa, below on the causal model and BERT; gradient x
    input above random on all four (by 0.02). Later: gradient x input also by at most 0.2 (margin 0.05)."""
    out, above = [], Criterion.above(SLIGHT)
    for g in ARCHITECTURES:
        chance, up = e.score(g, "random", GTO), g in ("t5", "roberta")
        gap = e.score(g, "gradient", GTO).minus(chance)
        text = f"Grad - random {g}" if up else f"random - Grad {g}"
        out.append(state(text, above, gap.times(1 if up else -1)))
        gap = e.score(g, "gradient_x_input", GTO).minus(chance)
        out.append(state(f"GxI - random {g}", above, gap))
        if not first:
            out.append(state(f"GxI - random {g}, slightly", Criterion(high=0.2, margin=SLACK), gap))
    return out


def _attention(e: Evidence) -> str:
    parts = [f"{SHORT[m]} overlap {_by_model(e, m, GTO)}, mean rank {_by_model(e, m, RANK)}" for m in ATTENTION]
    return "; ".join(parts) + " (T5, RoBERTa, Llama, BERT)"


@claim(
    10,
    "Attention never puts the cue first; last on GPT-2",
    "architectures_ground_truth",
    thesis="overlap 0 everywhere; mean rank 1.0 on GPT-2, Rollout better than random on T5 only",
    here=_attention,
    readings=(RANKED,),
)
def attention_by_architecture(e: Evidence) -> list[Statement]:
    """Overlap of both attention methods ≤ 0.1 on all four; mean rank % of both ≥ 0.9 on the causal model (margins
    0.05); rollout ranks the cue better than random on T5 only, average attention on all but the causal model (by
    0.05)."""
    few, last = Criterion(high=0.1, margin=SLACK), Criterion(low=0.9, margin=SLACK)
    out = [state(name(g, m, "overlap"), few, e.score(g, m, GTO)) for g in ARCHITECTURES for m in ATTENTION]
    out += [state(name(CAUSAL, m, "mean rank %"), last, e.score(CAUSAL, m, RANK)) for m in ATTENTION]
    for m, good in (("attention_rollout", ("t5",)), ("average_attention", ("t5", "roberta", "bert"))):
        for g in ARCHITECTURES:
            criterion = (Criterion.above if g in good else Criterion.not_above)(MARGINS[RANK])
            text = f"random - {SHORT[m]} {g} mean rank %"
            out.append(difference(text, criterion, e.score(g, "random", RANK), e.score(g, m, RANK)))
    return out


def _causal(e: Evidence) -> str:
    def gaps(data: str, metric: str) -> str:
        chance = e.score(CAUSAL, "random", metric, data)
        return span(e.score(CAUSAL, m, metric, data).minus(chance) for m in SINGLE)

    return f"SST: comp {gaps('sst', COMP)} above random; MultiNLI {gaps('mnli', COMP)}; e-SNLI {gaps('esnli', COMP)}"


@claim(
    11,
    "On GPT-2 no method is more faithful than random",
    "architectures_faithfulness",
    "mnli_faithfulness",
    "esnli_faithfulness",
    thesis="all methods like random on SST; two slightly ahead on each NLI set",
    here=_causal,
    readings=(LOGIT,),
    version=FIRST,
    models=("llama",),
)
def causal_flat(e: Evidence, first: bool) -> list[Statement]:
    """On the causal model comprehensiveness and sufficiency of every method are alike random (± 0.1) on SST; on
    MultiNLI comprehensiveness of IG and SHAP, on e-SNLI of LIME and IG, is above random (by 0.02). Later: and no other
    method is above these two (by more than 0.02)."""
    out = []
    for m in SINGLE:
        for metric in (COMP, SUFF):
            pair = (e.score(CAUSAL, m, metric), e.score(CAUSAL, "random", metric))
            out.append(difference(f"SST {SHORT[m]} - random {WORDS[metric]}", Criterion.alike(0.1), *pair))
    for data, methods in (("mnli", (TOP[0], TOP[2])), ("esnli", (TOP[1], TOP[0]))):
        comp = {m: e.score(CAUSAL, m, COMP, data) for m in (*SINGLE, "random")}
        for m in methods:
            above = Criterion.above(MARGINS[COMP])
            out.append(difference(f"{data} {SHORT[m]} - random comp", above, comp[m], comp["random"]))
            for other in () if first else [x for x in SINGLE if x not in methods]:
                not_above = Criterion.not_above(MARGINS[COMP])
                out.append(difference(f"{data} {SHORT[other]} - {SHORT[m]} comp", not_above, comp[other], comp[m]))
    return out


def _nli(e: Evidence) -> str:
    roberta, bert = (best(e, g, COMP, data="mnli")[1] for g in ("roberta", "bert"))
    highest = span(best(e, g, GTO, data="esnli")[1] for g in ARCHITECTURES)
    return f"best comp {mean([roberta])} and {mean([bert])}; best overlap {highest}"


@claim(
    12,
    "RoBERTa and BERT differ by 20 points on MultiNLI; plausibility stays in the low 40s",
    "mnli_faithfulness",
    "esnli_plausibility",
    thesis="comp differs by 20 points; overlap at most in the low 40s",
    here=_nli,
    readings=(LOGIT,),
)
def nli_architectures(e: Evidence) -> list[Statement]:
    """Best comprehensiveness of RoBERTa and BERT on MultiNLI differs by 0.1 to 0.3; overlap with the annotators ≤ 0.45
    for every method on every architecture (margins 0.05); on the causal model none is above IG's (by over 0.05)."""
    gap = best(e, "roberta", COMP, data="mnli")[1].minus(best(e, "bert", COMP, data="mnli")[1])
    size = gap.times(-1 if gap.gap is None and gap.mean < 0 else 1)
    out = [state("best comp of RoBERTa and BERT, difference", Criterion(0.1, 0.3, SLACK), size)]
    most = Criterion(high=0.45, margin=SLACK)
    out += [state(name(g, m, "overlap"), most, e.score(g, m, GTO, "esnli")) for g in ARCHITECTURES for m in SINGLE]
    ig, not_above = e.score(CAUSAL, TOP[0], GTO, "esnli"), Criterion.not_above(MARGINS[GTO])
    others = {m: e.score(CAUSAL, m, GTO, "esnli") for m in SINGLE[1:]}
    return out + [difference(f"{SHORT[m]} - IG {CAUSAL} overlap", not_above, cell, ig) for m, cell in others.items()]
