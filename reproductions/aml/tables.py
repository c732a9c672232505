"""The tables of the results page."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from assay.core.types import Attribution
from assay.statistics.claims import Finding
from assay.statistics.quantities import Quantity
from assay.statistics.verdict import Comparison, compare

from .aim import aims
from .beside import here, paper
from .claims import ABLATED, CLAIMS, IMDB, MARGIN, MOVIES, SST
from .evidence import HINDSIGHT, SEARCHES, TRAINING, Cell, Evidence, short_metric
from .findings import place, span
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
    "full(steps=10)": "all losses, and ten steps on the mask of each text",
    "without_preservation(steps=10)": "without L_p, and ten steps on the mask of each text",
    "without_inverse(steps=10)": "without L_inv, and ten steps on the mask of each text",
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
    return _standings(e, ABLATED, lambda m: m in ABLATIONS, ABLATIONS.__getitem__)


def _looks(method: str) -> bool:
    return HINDSIGHT in method or method.partition("(")[0] in SEARCHES


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
    said = paper_value(cell[1], cell[0], method, metric)
    said = ABLATION.get((method, metric)) if said is None else said
    bounds = f"[{standing.low:.3f}, {standing.high:.3f}]"
    return f"{shown} {bounds}" + ("" if said is None else f" (paper {said:.3f})")


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
    columns = e.columns(MOVIES, "top_k_f1", macro)
    pooled = e.columns(MOVIES, "top_k_f1(average=micro)", micro)
    sizes, rows = e.weights_of_examples[MOVIES]["top_k_f1(average=micro)"], []
    shared = sorted(set.intersection(*(set(values) for values in micro.values())))
    for method in sorted(columns, key=lambda m: -float(columns[m].mean())):
        f1 = float(np.average(pooled[method], weights=[sizes[x] for x in shared]))
        said = [f" (paper {number:.3f})" for number in RATIONALES.get(TIMED.get(method) or "", ())] or ["", ""]
        rows.append([method, f"{span(Quantity(columns[method]).interval(0.95))}{said[0]}", f"{f1:.3f}{said[1]}"])
    return f"{len(shared)} reviews.\n\n" + table(["method", "macro F1", "micro F1"], rows)


def time_table(e: Evidence) -> str:
    """Table 5: seconds of a text as multiples of pAML's on SST."""
    unit = e.seconds.get(SST, {}).get("paml")
    if not unit:
        return NOT_RUN
    length = {cell: "" if cell not in e.units else f", {e.units[cell]:.0f} units" for cell in (SST, IMDB)}
    rows = []
    for method, name in TIMED.items():
        cells = [e.seconds.get(cell, {}).get(method) for cell in (SST, IMDB)]
        theirs = [
            "" if name is None else f" (paper {s / SECONDS['pAML'][0]:.0f})" for s in SECONDS.get(name or "", (0, 0))
        ]
        shown = ["not run" if s is None else f"{s / unit:.1f}{said}" for s, said in zip(cells, theirs, strict=True)]
        rows.append([method, *shown])
    return table(["method", f"SST{length[SST]}", f"IMDB{length[IMDB]}"], rows)


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
        word = html.escape(a.text[start:stop], quote=False)
        out += [html.escape(a.text[end:start], quote=False), f"<b>{word}</b>" if i in top else word]
        end = stop
    return "".join([*out, html.escape(a.text[end:], quote=False)]).replace("|", "\\|").replace("\n", " ")


# --- fits -------------------------------------------------------------------------------------------------------------


def fit_table(e: Evidence) -> str:
    """What each fit reached on dev texts, when, and with which weights of the losses."""
    rows = [_fit(cell, name, card) for cell, fits in e.fits.items() for name, card in fits.items()]
    heads = ["data", "model", "fit", "texts", "metric", "dev", "random", "best step", "weights of L_p, L_a, L_inv"]
    return table(heads, rows) if rows else NOT_RUN


def _fit(cell: Cell, name: str, card: Mapping[str, Any]) -> list[str]:
    found, curve, metric = card["validation"], card["curve"], short_metric(card["metric"])
    higher = card["better"] == "higher"
    best = (max if higher else min)(curve, key=lambda check: check["value"])["step"] if curve else None
    steps = "unknown" if best is None else f"{best} of {curve[-1]['step']}"
    texts = f"{card['data']['train']['examples']:,}"
    return [*cell, name, texts, metric, _best(card), f"{found['random']:.3f}", steps, _weights(card["settings"])]


def _weights(settings: Mapping[str, Any]) -> str:
    """The weights of the masking losses, and where they come from."""
    if settings["objective"] != "masking":
        return "none"
    searched, reused = settings.get("search"), settings.get("weights_of")
    origin = f" (search of {searched} trials)" if searched else f" (reused from {reused})" if reused else ""
    return ", ".join(f"{settings[name]:.2f}" for name in ("preservation", "sparsity", "inverse")) + origin


def model_table(e: Evidence) -> str:
    """How good the explained models are."""
    rows = [
        [*cell, f"{t['examples']['train']:,}", f"{t['validation']['accuracy']:.3f}", f"{t['majority']:.3f}"]
        for cell, t in e.trained.items()
    ]
    return table(["data", "model", "training texts", "dev accuracy", "of the largest class"], rows) if rows else NOT_RUN


def start_table(e: Evidence) -> str:
    """Fits that started from another explainer, beside its score on the same dev texts."""
    rows = [
        [cell[0], name, card["metric"], f"{card['start']['value']:.3f}", _best(card)]
        for cell, fits in e.fits.items()
        for name, card in fits.items()
        if "start" in card
    ]
    return table(["data", "fit", "metric", "its source", "after the fit"], rows) if rows else NOT_RUN


def _best(card: Mapping[str, Any]) -> str:
    best = card["validation"]["best"]
    return "unknown" if best is None else f"{best:.3f}"


# --- claims -----------------------------------------------------------------------------------------------------------


def claim_table(e: Evidence) -> str:
    rows = [
        [str(claim.number), f"{claim.title} ({claim.source})", paper(claim.number), here(claim.number, e), said]
        for claim in CLAIMS
        if (said := claim.judge(e).sentence)
    ]
    return table(["", "claim", "paper", "here", "verdict"], rows)


def aim_table(e: Evidence) -> str:
    """Fitted explainers against methods that cost up to ten times their passes."""
    rows = []
    for a in aims(e):
        sure = "yes" if a.gain.low >= -MARGIN else "no" if a.gain.high < -MARGIN else "open"
        others = f"{a.rival} {span(a.other)}, best of {a.rivals}"
        gain, least = span(a.gain, signed=True), "" if a.detectable is None else f"{a.detectable:.3f}"
        reached = "met" if a.reached == "met" else f"**{a.reached}**"
        rows.append([place(a.cell), a.explainer, a.metric, span(a.own), others, gain, reached, sure, least])
    heads = [
        "data",
        "explainer",
        "metric",
        "its value",
        "best of the others",
        "gain",
        "aim",
        "no worse",
        "detectable",
    ]
    return table(heads, rows) if rows else NOT_RUN


def missing_list(e: Evidence) -> str:
    """The parts of the plans that were not run, or not to the end."""
    parts = [
        f"- {'the model' if name == TRAINING else f'`{name}`'} ({cell[0]}, {cell[1]}): "
        + (f"{done} of {jobs} jobs were run" if done else "not run")
        for (cell, name), (done, jobs) in sorted(e.records.items())
        if done < jobs
    ]
    return "".join(f"{part}.\n" for part in parts) or ("Every part was run.\n" if e.records else NOT_RUN)


def statement_list(e: Evidence) -> str:
    out = []
    for claim in CLAIMS:
        out += [f"### {claim.number}. {claim.title}", ""]
        out += [_line(finding) for finding in claim.judge(e).findings]
        out.append("")
    return "\n".join(out)


def _line(finding: Finding) -> str:
    bounds, statement = finding.interval, finding.statement
    numbers = "" if bounds is None else f" {bounds.value:.3f} [{bounds.low:.3f}, {bounds.high:.3f}];"
    why = f": {statement.reason}" if statement.reason else ""
    return f"- {statement.text}:{numbers} {finding.outcome}{why} (allowed: {statement.criterion})"
