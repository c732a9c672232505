"""The report of an evaluation as one self-contained HTML page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from assay.core.render import render
from assay.evaluation import AGREEMENT
from assay.evaluation.metrics import is_faithfulness
from assay.explainers.given import Given
from assay.reports.method_style import MethodStyle
from assay.reports.metric_docs import MetricDoc, metric_doc
from assay.reports.plots import share_curves
from assay.reports.study_page import Fact, data_fact, few_examples, preset_fact
from assay.reports.symbols import format_interval
from assay.studies.evaluate.agreement import Agreement, agreement
from assay.studies.evaluate.examples import shown_examples
from assay.studies.evaluate.protocols import protocol_words, steps
from assay.studies.evaluate.remarks import explains
from assay.studies.evaluate.reproduce import python_call, settings_words, specs, units_in_words
from assay.studies.evaluate.result import Result
from assay.studies.evaluate.tables import Ranking, costs, glance, performance_rows, ranking

TITLES = {
    "glance": "At a glance",
    "ranking": "Ranking",
    "curves": "Curves",
    "agreement": "Agreement",
    "examples": "Examples",
    "costs": "Costs",
    "model": "Model",
    "metrics": "Metrics",
    "preset": "Preset",
    "reproduce": "Reproduce",
}


@dataclass(frozen=True)
class Statement:
    """The verdict on one metric; `note` holds what the data cannot show."""

    metric: str
    better: str
    n: int
    explained: str  # class
    sentence: Sequence[str | MethodStyle]
    note: str


@dataclass(frozen=True)
class Curve:
    metric: str
    better: str
    plot: Markup


@dataclass(frozen=True)
class MetricCard:
    name: str
    doc: MetricDoc
    settings: Mapping[str, str]
    measured: bool


def page(result: Result, command: str | None = None) -> str:
    """The report; `command` is the command line that created it, if there was one."""
    evaluation, styles = result.evaluation, result.method_styles
    sections: dict[str, Any] = {
        "glance": glance(result.comparisons, styles) if result.comparisons else None,
        "ranking": _rankings(result),
        "curves": _curves(result),
        "agreement": _agreement(result),
        "examples": shown_examples(evaluation, styles),
        "costs": costs(evaluation, styles),
        "model": performance_rows(result.performance),
        "metrics": [_card(result, metric) for metric in evaluation.metrics],
        "preset": evaluation.preset,
        "reproduce": {
            "command": command,
            "call": python_call(evaluation),
            "settings": settings_words(evaluation),
            "specs": specs(evaluation),
        },
    }
    return render(
        "studies/evaluate/page.html.jinja",
        title=f"Which explanation of {evaluation.model.title} can be trusted?",
        titles={name: TITLES[name] for name, content in sections.items() if content},
        overall=cut_at_methods(result.overall, styles),
        warnings=_warnings(result),
        facts=_facts(result),
        statements=[_statement(result, metric) for metric in result.comparisons],
        control=result.control,
        remarks=[cut_at_methods(remark, styles) for remark in result.remarks],
        agreement_measure=metric_doc(AGREEMENT.make(evaluation.settings["agreement"][0])).title,
        labelled=next((interval.n for interval in result.performance.values()), 0),
        **sections,
    )


# --- verdict and facts -----------------------------------------------------------------------------------------------


def _warnings(result: Result) -> list[str]:
    few = few_examples({metric: c.n for metric, c in result.comparisons.items()})
    return [*few, *result.warnings, *result.evaluation.dataset.notes]


def _statement(result: Result, metric: str) -> Statement:
    comparison, styles = result.comparisons[metric], result.method_styles
    note = "" if comparison.unranked else comparison.power_note
    _, _, text = result.sentence(metric).removesuffix(note).strip().partition(": ")
    text = text if text.startswith(tuple(styles)) else text[:1].upper() + text[1:]
    explained = explains(result.evaluation, metric)
    note = note.replace(" %", "\N{NO-BREAK SPACE}%")
    return Statement(metric, comparison.better, comparison.n, explained, cut_at_methods(text, styles), note)


def cut_at_methods(text: str, styles: Mapping[str, MethodStyle]) -> list[str | MethodStyle]:
    """The text cut at the names of methods, which are replaced by their styles."""
    names = sorted(styles, key=len, reverse=True)
    pieces, end = list[str | MethodStyle](), 0
    for match in re.finditer("|".join(rf"(?<![\w(]){re.escape(name)}(?!\w)" for name in names), text):
        pieces += [text[end : match.start()], styles[match[0]]]
        end = match.end()
    return [*pieces, text[end:]]


def _facts(result: Result) -> list[Fact]:
    evaluation, model = result.evaluation, result.evaluation.model
    protocols = dict.fromkeys(m.protocol for m in evaluation.metrics.values() if is_faithfulness(m))
    performance = [
        Fact(name, *format_interval(interval.value, interval.low, interval.high))
        for name, interval in list(result.performance.items())[:1]
    ]
    return [
        Fact("model", model.title, ", ".join(filter(None, (model.family.name, model.task, model.reading)))),
        data_fact(evaluation.dataset),
        *performance,
        Fact("methods", str(len(evaluation.methods)), _about_methods(result)),
        Fact("metrics", _measured(result), f"protocol: {', '.join(protocols) or 'none'}"),
        Fact("explained class", *_explained(result)),
        *preset_fact(evaluation.preset),
    ]


def _measured(result: Result) -> str:
    """The number of metrics; those that could not be measured are not counted in silence."""
    asked, measured = len(result.evaluation.metrics), len(result.comparisons)
    return str(asked) if measured == asked else f"{measured} of {asked} measured"


def _explained(result: Result) -> tuple[str, str]:
    classes = dict.fromkeys(explains(result.evaluation, metric) for metric in result.comparisons)
    return " and ".join(classes) or "none", f"units: {units_in_words(result.evaluation)}"


def _about_methods(result: Result) -> str:
    """The control, and which scores were made elsewhere."""
    given = [name for name, method in result.evaluation.methods.items() if isinstance(method, Given)]
    elsewhere = f"; made elsewhere: {', '.join(given)}" if given else ""
    draws = result.evaluation.settings.get("draws", 1)
    mean = f" (mean of {draws} draws)" if draws > 1 and result.control else ""
    return f"control: {result.control or 'none'}{mean}{elsewhere}"


# --- sections --------------------------------------------------------------------------------------------------------


def _rankings(result: Result) -> list[Ranking]:
    return [
        ranking(metric, comparison, result.method_styles, result.evaluation.methods)
        for metric, comparison in result.comparisons.items()
    ]


def _curves(result: Result) -> list[Curve]:
    evaluation, plots = result.evaluation, []
    for metric, rows in evaluation.curves.items():
        points = next(iter(rows.values())).shape[-1]
        if metric not in result.comparisons or points < 2:
            continue
        comparison, step = result.comparisons[metric], steps(evaluation.metrics[metric])
        banded = [m for m in dict.fromkeys((comparison.control, comparison.best.method)) if m is not None]
        plot = share_curves(rows, step.at(points), result.method_styles, banded, metric, step.verb)
        plots.append(Curve(metric, comparison.better, plot))
    return plots


def _agreement(result: Result) -> Agreement | None:
    evaluation = result.evaluation
    correlations = {pair: np.nan_to_num(row).tolist() for pair, row in evaluation.agreement.items()}
    return agreement(correlations, result.method_styles, int(evaluation.settings["seed"]))


def _card(result: Result, metric: str) -> MetricCard:
    evaluation = result.evaluation
    doc = metric_doc(evaluation.metrics[metric])
    settings = {"range": doc.range, "paper": doc.paper or "none"}
    if metric in result.comparisons:
        settings["explained class"] = explains(evaluation, metric)
    if is_faithfulness(evaluation.metrics[metric]):
        settings |= protocol_words(evaluation.metrics[metric], evaluation.model)
    elif doc.parameters:
        settings["parameters"] = doc.parameters
    return MetricCard(metric, doc, settings, metric in result.comparisons)
