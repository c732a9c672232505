"""The paper's numbers for each claim, and ours beside them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from . import claims as c
from .claims import ABLATED, BOTH, CELLS, IMDB, LANGUAGE, MOVIES, SST
from .evidence import Cell, Evidence
from .published import ENCODERS, LANGUAGE_MODELS, RATIONALES, SECONDS, places, published

NONE = "no number"
NAMES = {
    "sst": "SST",
    "rotten": "Rotten Tomatoes",
    "emotion": "Emotion",
    "language": "SST",
    "imdb": "IMDB",
    "movies": "macro F1",
}
LAST, HINDSIGHT_NOISE = c.refined("comprehensiveness"), c.noise("comprehensiveness")
SHORT = {
    "paml": "pAML",
    "paml_mean": "mean",
    "sequential_integrated_gradients": "SIG",
    "self_ranking": "own ranking",
    "self_ranking(mode=free)": "free ranking",
    LAST: "fAML by its last step",
    c.oracle("comprehensiveness"): "fAML in hindsight",
    HINDSIGHT_NOISE: "noise in hindsight",
    c.mask_oracle("comprehensiveness"): "masks without G in hindsight",
    c.greedy("comprehensiveness"): "greedy search",
    "mask_optimisation": "masks without G",
}


def short(method: str) -> str:
    return SHORT.get(method, method)


def number(value: float) -> str:
    """A number without the zero before its point, as in the paper."""
    return re.sub(r"^(-?)0\.", r"\1.", f"{value:.3f}")


def means(e: Evidence, cells: Sequence[Cell], methods: Sequence[str], metric: str = "comprehensiveness") -> str:
    """The means of methods on shared texts, cell by cell; what was not run is left out."""
    parts = []
    for cell in cells:
        columns = e.columns(cell, metric, methods)
        found = ", ".join(f"{short(m)} {number(float(column.mean()))}" for m, column in columns.items())
        texts = len(next(iter(columns.values()))) if columns else 0
        parts += [f"{NAMES.get(cell[0], cell[0])}: {found} ({texts} texts)"] if columns else []
    return "; ".join(parts) or "not run"


def theirs(model: str, data: Sequence[str], methods: Sequence[str], metric: str = "comprehensiveness") -> str:
    """The paper's numbers."""
    found = [
        (name, [f"{m} {number(v)}" for m in methods if (v := published().get((model, name, m, metric))) is not None])
        for name in data
    ]
    return "; ".join(f"{name}: {', '.join(values)}" for name, values in found)


def paper(number_of_claim: int) -> str:
    """What the paper reports: comprehensiveness unless another metric is named."""
    bert, data = "BERT", ("SST2", "RTN", "EMR")
    best = places("fAML", ENCODERS)
    third, of = sum(n for place, n in places("pAML", ENCODERS).items() if place <= 3), sum(best.values())
    second = sum(n for place, n in places("pAML", LANGUAGE_MODELS).items() if place <= 2)
    of_language = sum(places("pAML", LANGUAGE_MODELS).values())
    f1 = ", ".join(f"{m} {number(macro)}" for m, (macro, _) in RATIONALES.items())
    return {
        1: f"{theirs(bert, data, ('fAML', 'DCMP', 'SIG'))} (fAML in hindsight; first in {best[1]} of {of} columns)",
        2: f"{theirs(bert, data, ('pAML', 'ALTI', 'IG', 'LIME'))} (first to third in only {third} of {of} columns)",
        3: "no control",
        4: f"{theirs(bert, data, ('fAML', 'SLVX'))} (both in hindsight)",
        5: "pAML, DistilBERT: no L_p .59, no L_inv .55; sufficiency (lower is better): .09 and .06; no numbers for the "
        "weights",
        6: "pAML, DistilBERT: all .57, no L_p .59, no L_inv .55; sufficiency: .07, .09, .06 (two of these four gains "
        "are negative)",
        10: "fAML {:.1f} s on SST2, {:.1f} s on IMDB".format(*SECONDS["fAML"]),
        11: theirs("Llama2", ("SST2",), ("fAML", "pAML", "SIG", "LLM")) + " (fAML in hindsight)",
        12: f"as in 11 (first or second in {second} of {of_language} columns)",
        13: theirs("Llama2", ("SST2",), ("LLM", "SIG", "fAML")) + " (SIG is behind the ranking here)",
        15: f"macro F1: {f1} (fAML in hindsight)",
        16: "not in the paper",
    }.get(number_of_claim, NONE)


def here(number_of_claim: int, e: Evidence) -> str:
    """Our numbers for the same."""
    fitted, last, oracle = c.paml(""), LAST, c.oracle("comprehensiveness")
    losses = ("full", "without_preservation", "without_inverse")
    match number_of_claim:
        case 1:
            return means(e, CELLS, (last, fitted, *c.RUNNERS_UP))
        case 2:
            return means(e, CELLS, (fitted, "alti", "integrated_gradients", "lime(samples=128)"))
        case 3:
            last_step = means(e, CELLS, (last, "mask_optimisation"))
            return f"{last_step}; in hindsight: {means(e, CELLS, (oracle, HINDSIGHT_NOISE, c.mask_oracle(BOTH[0])))}"
        case 4:
            return means(e, (SST,), (oracle, c.greedy(BOTH[0])))
        case 5:
            chosen = [f"{name}_sufficiency" for name in losses[1:]]
            return (
                f"{_weights(e)}; {means(e, (ABLATED,), losses[1:])}; sufficiency: "
                f"{means(e, (ABLATED,), chosen, 'sufficiency')}"
            )
        case 6:
            return f"{means(e, (ABLATED,), losses)}; sufficiency: " + means(
                e, (ABLATED,), [f"{name}_sufficiency" for name in losses], "sufficiency"
            )
        case 7:
            return means(e, (ABLATED,), ("full", "l1"))
        case 8:
            return means(e, (ABLATED,), ("full", "pad", "random_token", "hard", "omitted"))
        case 9:
            steps = (oracle, "paml(steps=3, tune=all, selection=oracle)")
            return f"{means(e, (ABLATED,), ('texts_1000', 'texts_2000'))}; {means(e, (SST,), steps)}"
        case 10:
            return _times(e)
        case 11 | 12:
            return means(e, (LANGUAGE,), (last, fitted, c.LANGUAGE_RUNNER_UP, "self_ranking"))
        case 13:
            return means(e, (LANGUAGE,), ("self_ranking", "self_ranking(mode=free)", "occlusion"))
        case 14:
            return means(e, (LANGUAGE,), ("paml", "paml_mean"))
        case 15:
            return means(e, (MOVIES,), (last, fitted, "decompx"), "top_k_f1")
    return "see Our aim"


def _weights(e: Evidence) -> str:
    found = [e.weights(SST, name) for name in ("searched", "searched_sufficiency")]
    if None in found:
        return "searches not run"
    first, second = (w for w in found if w is not None)
    if first == second:
        return "the same weights for both metrics: " + ", ".join(f"{w} {v:.2f}" for w, v in first.items())
    shown = [f"{w} {first[w]:.2f} and {second[w]:.2f}" for w in ("inverse", "preservation")]
    return f"weights for comprehensiveness and sufficiency: {', '.join(shown)}"


def _times(e: Evidence) -> str:
    found = [e.seconds.get(cell, {}).get(LAST) for cell in (SST, IMDB)]
    if None in found:
        return "not run"
    slow, long = (seconds for seconds in found if seconds is not None)
    return f"{slow:.2f} s on SST, {long:.2f} s on IMDB"
