"""A whole report as one HTML page: no script, no font, no picture from anywhere else. The verdict stands first."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from assay.evaluation import AGREEMENT
from assay.evaluation.metrics import is_faithfulness
from assay.reports.method_style import MethodStyle, breakable, method_styles
from assay.reports.metric_docs import card
from assay.reports.plots import curves
from assay.reports.study_page import pairs
from assay.reports.style import style
from assay.reports.symbols import arrow, figures
from assay.statistics.bootstrap import Interval
from assay.statistics.power import SMALL
from assay.statistics.verdict import Comparison
from assay.studies.evaluate.agreement import agreement
from assay.studies.evaluate.examples import examples
from assay.studies.evaluate.length_limit import past_limit
from assay.studies.evaluate.performance import performance
from assay.studies.evaluate.protocols import protocol_words, steps
from assay.studies.evaluate.reproduce import reproduce
from assay.studies.evaluate.tables import costs, glance, performance_table, ranking

if TYPE_CHECKING:
    from assay.studies.evaluate.result import Result

TITLES = {
    "glance": "At a glance",
    "ranking": "Ranking",
    "curves": "Curves",
    "agreement": "Agreement",
    "examples": "Examples",
    "costs": "Costs",
    "model": "Model",
    "metrics": "Metrics",
    "reproduce": "Reproduce",
}


def page(result: Result, command: str | None = None) -> str:
    """The report of an evaluation; `command` is the line that made it, if one did."""
    evaluation = result.evaluation
    who = method_styles(list(evaluation.methods), result.control)
    measures = performance(evaluation)
    sections = {
        "glance": _glance(result, who),
        "ranking": _ranking(result, who),
        "curves": _curves(result, who),
        "agreement": _agreement(result, who),
        "examples": examples(evaluation, who),
        "costs": _costs(result, who),
        "model": _model(measures),
        "metrics": _metrics(result),
        "reproduce": reproduce(evaluation, command),
    }
    sections = {name: body for name, body in sections.items() if body}
    blocks = "".join(f'<section id="{name}"><h2>{TITLES[name]}</h2>{body}</section>' for name, body in sections.items())
    title = f"Which explanation of {evaluation.model.title} can be trusted?"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(title)}</title><style>{style()}</style></head><body>"
        f'<header class="top"><div class="brand"><b>Assay</b><nav aria-label="Sections">{_links(sections)}</nav></div>'
        f"<h1>{escape(title)}</h1></header><main>{_verdict(result, who, measures)}{blocks}</main>"
        f"<footer>Made on {date.today():%Y-%m-%d} with Assay {escape(evaluation.provenance.get('assay', ''))}. "
        "Intervals are of 95 %, over examples.</footer></body></html>\n"
    )


def _links(sections: Mapping[str, str]) -> str:
    return "".join(f'<a href="#{name}">{TITLES[name]}</a>' for name in sections)


# --- the verdict -----------------------------------------------------------------------------------------------------


def _verdict(result: Result, who: Mapping[str, MethodStyle], measures: Mapping[str, Interval]) -> str:
    found = result.comparisons
    says = "".join(_says(result, metric, who) for metric in found)
    limit = past_limit(result.evaluation)
    warnings = [_careful(found), limit.sentence if limit else ""]
    return (
        f'<p class="big">{_named(result.overall, who)}</p>'
        + "".join(f'<p class="warn"><b>Careful:</b> {escape(text)}</p>' for text in warnings if text)
        + f'{_facts(result, measures)}<dl class="says">{says}</dl>'
    )


def _careful(found: Mapping[str, Comparison]) -> str:
    few = min((c.n for c in found.values()), default=SMALL)
    if few >= SMALL:
        return ""
    return f"{few} examples are few. Below {SMALL}, intervals are too narrow and real differences are easily missed."


def _says(result: Result, metric: str, who: Mapping[str, MethodStyle]) -> str:
    """The sentence of one metric; what it cannot tell stands apart, in a softer voice."""
    c = result.comparisons[metric]
    note = c.power_note
    _, _, text = result.sentence(metric).removesuffix(note).strip().partition(": ")
    text = text if text.startswith(tuple(who)) else text[:1].upper() + text[1:]
    after = f"<em>{escape(note)}</em>" if note else ""
    better = f"{arrow(c.better)} {c.better} is better, n = {c.n}"
    return f"<dt>{breakable(metric)}<small>{better}</small></dt><dd>{_named(text, who)}{after}</dd>"


def _named(text: str, who: Mapping[str, MethodStyle]) -> str:
    """Escaped, with the names of methods set apart and short, so that the sentence can be read."""
    names = sorted(who, key=len, reverse=True)
    out, end = [], 0
    for hit in re.finditer("|".join(rf"(?<![\w(]){re.escape(name)}(?!\w)" for name in names), text):
        out += [escape(text[end : hit.start()]), who[hit[0]].name]
        end = hit.end()
    return "".join([*out, escape(text[end:])])


def _facts(result: Result, measures: Mapping[str, Interval]) -> str:
    evaluation, model, data = result.evaluation, result.evaluation.model, result.evaluation.dataset
    protocols = dict.fromkeys(m.protocol for m in evaluation.metrics.values() if is_faithfulness(m))
    facts = [
        ("model", model.title, f"{model.family.name}, {model.task}"),
        ("data", data.name or "given", f"{len(data)} examples{f', {data.split}' if data.split else ''}"),
        *[(name, *figures(i.value, i.low, i.high)) for name, i in list(measures.items())[:1]],
        ("methods", str(len(evaluation.methods)), f"control: {result.control or 'none'}"),
        ("metrics", str(len(evaluation.metrics)), f"protocol: {', '.join(protocols) or 'none'}"),
        ("explained class", evaluation.settings["target"], f"units: {evaluation.settings['units']}"),
    ]
    cells = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)} <small>{escape(more)}</small></dd></div>"
        for name, value, more in facts
    )
    return f'<dl class="facts">{cells}</dl>'


# --- the sections ----------------------------------------------------------------------------------------------------


def _glance(result: Result, who: Mapping[str, MethodStyle]) -> str:
    return glance(result.comparisons, who) if result.comparisons else ""


def _ranking(result: Result, who: Mapping[str, MethodStyle]) -> str:
    tables = [ranking(metric, comparison, who) for metric, comparison in result.comparisons.items()]
    if not tables:
        return ""
    dashed = "the dashed line is the control's mean; " if result.control else ""
    note = (
        f'<p class="note">Best first. Bars are 95 % bootstrap intervals of the mean; {dashed}signs come from paired '
        "permutation tests with Holm's correction, so two bars may overlap and still differ.</p>"
    )
    return f'{note}<div class="grid half">{"".join(tables)}</div>'


def _curves(result: Result, who: Mapping[str, MethodStyle]) -> str:
    evaluation, plots = result.evaluation, []
    for metric, rows in evaluation.curves.items():
        points = next(iter(rows.values())).shape[-1]
        if metric not in result.comparisons or points < 2:
            continue
        c, step = result.comparisons[metric], steps(evaluation.metrics[metric])
        banded = [m for m in dict.fromkeys((c.control, c.best.method)) if m is not None]
        plot = curves(rows, step.at(points), who, banded, metric, step.verb)
        better = f"{arrow(c.better)} {c.better} is better"
        plots.append(
            f'<figure><h3><span class="name">{breakable(metric)}</span> <small>{better}</small></h3>{plot}</figure>'
        )
    if not plots:
        return ""
    banded_words = "the best method and the control" if result.control else "the best method"
    note = (
        '<p class="note">What the metric says at each share of units, mean over examples. Bands are 95 % intervals, '
        f"drawn for {banded_words}.</p>"
    )
    return f'{note}<div class="grid">{"".join(plots)}</div>'


def _agreement(result: Result, who: Mapping[str, MethodStyle]) -> str:
    if len(who) < 2:
        return ""
    rows = {pair: np.nan_to_num(row).tolist() for pair, row in result.evaluation.agreement.items()}
    measure = card(AGREEMENT.make(result.evaluation.settings["agreement"][0]))
    note = (
        f'<p class="note">{escape(measure.title)}, mean over examples; 1 means full agreement. '
        "Two methods can agree because they share a mistake.</p>"
    )
    return note + agreement(rows, who, int(result.evaluation.settings["seed"]))


def _costs(result: Result, who: Mapping[str, MethodStyle]) -> str:
    note = (
        '<p class="note">Sequences through the model, forward and backward, and seconds, per example, as this run '
        "counted them: methods share what they ask, so an input that an earlier method has asked about costs nothing. "
        "In small print what the method takes alone (n units).</p>"
    )
    return note + costs(result.evaluation, who)


def _model(measures: Mapping[str, Interval]) -> str:
    if not measures:
        return ""
    n = next(iter(measures.values())).n
    return f'<p class="note">On the {n} examples whose label it knows.</p>{performance_table(measures)}'


def _metrics(result: Result) -> str:
    return f'<div class="grid">{"".join(_card(result, metric) for metric in result.evaluation.metrics)}</div>'


def _card(result: Result, metric: str) -> str:
    evaluation, made = result.evaluation, result.evaluation.metrics[metric]
    about = card(made)
    words = {"range": about.range, "paper": about.paper or "none"}
    if is_faithfulness(made):
        words |= protocol_words(made, evaluation.model)
    elif about.parameters:
        words["parameters"] = about.parameters
    lines = [f'<p class="formula">{_code(about.formula)}</p>']
    lines += [f"<p>{_code(about.note)}</p>"] if about.note else []
    lines += [f"<p><b>Weakness:</b> {_code(about.weakness)}</p>"] if about.weakness else []
    if metric not in result.comparisons:
        lines.append("<p><b>Not measured:</b> no example has what this metric needs, such as a rationale.</p>")
    head = f"<h3>{breakable(metric)} <small>{arrow(about.better)} {about.direction}</small></h3>"
    return f'<article class="card">{head}<p>{escape(about.title)}.</p>{"".join(lines)}{pairs(words)}</article>'


def _code(text: str) -> str:
    """Escaped; what a docstring has in backquotes as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
