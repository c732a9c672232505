"""The tables of the results page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from assay.core.types import Attribution
from assay.statistics.claims import Finding
from assay.statistics.verdict import Comparison, compare

from .claims import ABLATED, CLAIMS, IMDB, MOVIES, SST
from .evidence import HINDSIGHT, SEARCHES, Cell, Evidence
from .published import ABLATION, METRICS, RATIONALES, SECONDS, paper_value

ARROWS = {metric: "↑" if "comprehensiveness" in metric else "↓" for metric in METRICS}
NOT_RUN = "Not run yet.\n"
ABLATIONS = {  # rows of the ablation, with what they change
    "full": "all losses",
    "without_preservation": "without L_p",
    "without_inverse": "without L_inv",
    "full_sufficiency": "all losses, chosen by sufficiency",
    "without_preservation_sufficiency": "without L_p, chosen by sufficiency",
    "without_inverse_sufficiency": "without L_inv, chosen by sufficiency",
    "full(steps=10)": "all losses, ten steps on each text",
    "without_preservation(steps=10)": "without L_p, ten steps on each text",
    "without_inverse(steps=10)": "without L_inv, ten steps on each text",
    "l1": "L1 in place of the cross-entropy",
    "inverse_probability": "L_inv as a probability",
    "inverse_entropy": "L_inv as negative entropy",
    "one_hot": "one-hot target",
    "hard": "hard masks",
    "pad": "reference: the padding token",
    "unk": "reference: the unknown token",
    "zero": "reference: zeros",
    "random_token": "reference: a random token",
    "learned_reference": "reference: learnt",
    "omitted": "tokens left out (hard masks)",
    "texts_1000": "all losses, 1,000 texts",
    "texts_2000": "all losses, 2,000 texts",
}
TIMED = {  # methods of Table 5, by the paper's names
    "paml": "pAML",
    "paml(steps=10, tune=all)": "fAML",
    "sequential_integrated_gradients": "SIG",
    "decompx": "DCMP",
    "logistic": None,
}
EXPLAINED = ("paml", "logistic", "sequential_integrated_gradients", "decompx")  # methods of Table 6
SLOW = ("sequential_integrated_gradients",)
EXAMPLES, TOP = 3, 3  # texts of each data set, and words in bold


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"


# --- metrics of methods -----------------------------------------------------------------------------------------------


def method_table(e: Evidence, cell: Cell) -> str:
    """Methods that do not look at the metric: a row each, best comprehensiveness first; bold: in the best group."""
    slow = SLOW if cell == IMDB else ()  # explained few texts there, for the time alone
    return _standings(e, cell, lambda m: not (_looks(m) or m in ABLATIONS or m in slow))


def hindsight_table(e: Evidence, cell: Cell) -> str:
    """Methods that choose by the metric that is reported, on the texts that all of them explained."""
    return _standings(e, cell, _looks)


def ablation_table(e: Evidence) -> str:
    def named(method: str) -> str:
        paper = ABLATION.get(method)
        said = "" if paper is None else f" (paper: sufficiency {paper[0]:.2f}, comprehensiveness {paper[1]:.2f})"
        return f"{ABLATIONS[method]}{said}"

    return _standings(e, ABLATED, lambda m: m in ABLATIONS, named)


def _looks(method: str) -> bool:
    return HINDSIGHT in method or method in SEARCHES


def _standings(e: Evidence, cell: Cell, chosen: Callable[[str], bool], named: Callable[[str], str] = str) -> str:
    found = {m: {k: v for k, v in by.items() if chosen(k)} for m, by in e.values.get(cell, {}).items() if m in METRICS}
    found = {metric: by for metric, by in found.items() if by}
    if not found:
        return NOT_RUN
    standings, shared = {}, set[str]()
    for metric, by_method in found.items():
        shared = set.intersection(*(set(values) for values in by_method.values()))
        columns = {m: np.array([values[x] for x in sorted(shared)]) for m, values in by_method.items()}
        better = "higher" if ARROWS[metric] == "↑" else "lower"
        standings[metric] = compare(columns, better, control="random" if "random" in columns else None)
    metrics = [metric for metric in METRICS if metric in standings]
    lead = "comprehensiveness" if "comprehensiveness" in standings else metrics[0]
    rows = [
        [named(s.method), *(_cell(standings[m], s.method, cell, m) for m in metrics), _passes(e, cell, s.method)]
        for s in standings[lead].standings
    ]
    return f"{len(shared)} texts.\n\n" + table(["method", *(f"{m} {ARROWS[m]}" for m in metrics), "passes"], rows)


def _cell(found: Comparison, method: str, cell: Cell, metric: str) -> str:
    if all(standing.method != method for standing in found.standings):
        return "not run"
    standing = found[method]
    number = f"{standing.value:.3f}"
    shown = f"**{number}**" if standing.best_group else number
    paper = paper_value(cell[1], cell[0], standing.method, metric)
    bounds = f"[{standing.low:.3f}, {standing.high:.3f}]"
    return f"{shown} {bounds}" + ("" if paper is None else f" (paper {paper:.3f})")


def _passes(e: Evidence, cell: Cell, method: str) -> str:
    count = e.passes.get(cell, {}).get(method)
    return "" if count is None else f"{count:.1f}"


# --- rationales, time, examples ---------------------------------------------------------------------------------------


def rationale_table(e: Evidence) -> str:
    """Table 3: F1 of the top 25 tokens; micro is the mean weighted by chosen and marked tokens."""
    found = e.values.get(MOVIES, {})
    macro, micro = found.get("top_k_f1"), found.get("top_k_f1(average=micro)")
    if not macro or not micro:
        return NOT_RUN
    sizes = e.weights_of_examples[MOVIES]["top_k_f1(average=micro)"]
    rows = []
    for method in sorted(macro, key=lambda m: -float(np.mean(list(macro[m].values())))):
        pooled = float(np.average(list(micro[method].values()), weights=[sizes[x] for x in micro[method]]))
        paper = RATIONALES.get(TIMED.get(method) or "", ())
        said = [f" (paper {number:.3f})" for number in paper] or ["", ""]
        rows.append([method, f"{np.mean(list(macro[method].values())):.3f}{said[0]}", f"{pooled:.3f}{said[1]}"])
    texts = len(next(iter(macro.values())))
    return f"{texts} reviews.\n\n" + table(["method", "macro F1", "micro F1"], rows)


def time_table(e: Evidence) -> str:
    """Table 5: seconds of a text as multiples of pAML's on SST."""
    unit = e.seconds.get(SST, {}).get("paml")
    if not unit:
        return NOT_RUN
    rows = []
    for method, name in TIMED.items():
        cells = [e.seconds.get(cell, {}).get(method) for cell in (SST, IMDB)]
        theirs = [
            "" if name is None else f" (paper {s / SECONDS['pAML'][0]:.0f})" for s in SECONDS.get(name or "", (0, 0))
        ]
        shown = ["not run" if s is None else f"{s / unit:.1f}{said}" for s, said in zip(cells, theirs, strict=True)]
        rows.append([method, *shown])
    return table(["method", "SST", "IMDB"], rows)


def example_table(e: Evidence) -> str:
    """Table 6: the words with the highest scores in bold."""
    rows = [row for cell in (SST, ABLATED) for row in _examples(e, cell)]
    return table(["data", "prediction", "method", "attribution"], rows) if rows else NOT_RUN


def _examples(e: Evidence, cell: Cell) -> Iterator[list[str]]:
    found = e.shown.get(cell, {})
    present = {method: found[method] for method in EXPLAINED if method in found}
    if not present:
        return
    shared = set.intersection(*(set(by_example) for by_example in present.values()))
    first = next(iter(present.values()))
    for example in [x for x in first if x in shared][:EXAMPLES]:
        for method, by_example in present.items():
            a = Attribution.from_dict(by_example[example])
            yield [cell[0], str(a.label), method, _bold(a)]


def _bold(a: Attribution) -> str:
    top = set(np.argsort(-np.asarray(a.scores), kind="stable")[:TOP].tolist())
    out, end = [], 0
    for i, unit in enumerate(a.units):
        start, stop = unit.start, unit.end
        out += [a.text[end:start], f"<b>{a.text[start:stop]}</b>" if i in top else a.text[start:stop]]
        end = stop
    return "".join([*out, a.text[end:]]).replace("|", "\\|").replace("\n", " ")


# --- fits -------------------------------------------------------------------------------------------------------------


def weight_table(e: Evidence) -> str:
    """The weights of the losses of the fits of the paper's method, and where they come from."""
    rows = []
    for cell, fits in e.fits.items():
        for name, card in fits.items():
            s = card["settings"]
            if s["objective"] != "masking" or name in ABLATIONS:
                continue
            searched, reused = s.get("search"), s.get("weights_of")
            origin = (
                f"search of {searched} trials" if searched else "reused from the search on SST" if reused else "given"
            )
            numbers = [f"{s[weight]:.2f}" for weight in ("preservation", "sparsity", "inverse")]
            rows.append([cell[0], cell[1], name, *numbers, origin])
    return table(["data", "model", "fit", "L_p", "L_a", "L_inv", "weights"], rows) if rows else NOT_RUN


def start_table(e: Evidence) -> str:
    """Fits that started from another explainer, beside its score on the same dev texts."""
    rows = [
        [cell[0], name, card["metric"], f"{card['start']['value']:.3f}", _best(card)]
        for cell, fits in e.fits.items()
        for name, card in fits.items()
        if "start" in card
    ]
    return table(["data", "fit", "metric", "its source", "after the fit"], rows) if rows else NOT_RUN


def _best(card: Mapping[str, object]) -> str:
    best = card["validation"]["best"]  # type: ignore[index]
    return "unknown" if best is None else f"{best:.3f}"


# --- claims -----------------------------------------------------------------------------------------------------------


def claim_table(e: Evidence) -> str:
    rows = [[str(c.number), c.title, c.source, c.judge(e).sentence] for c in CLAIMS]
    return table(["", "claim", "source", "verdict"], rows)


def statement_list(e: Evidence) -> str:
    out = []
    for claim in CLAIMS:
        out += [f"### {claim.number}. {claim.title}", ""]
        out += [_line(finding) for finding in claim.judge(e).findings]
        out.append("")
    return "\n".join(out)


def _line(finding: Finding) -> str:
    bounds = finding.interval
    numbers = "" if bounds is None else f" {bounds.value:.3f} [{bounds.low:.3f}, {bounds.high:.3f}];"
    return f"- {finding.statement.text}:{numbers} {finding.outcome} (allowed: {finding.statement.criterion})"
