"""The page of a ROAR run: curves with bands, areas and verdicts, sparsity, run time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from assay.core.render import render
from assay.evaluation.roar.verdict import COVERAGE, FAITHFUL, INCONCLUSIVE, NOT_FAITHFUL, Faithfulness
from assay.reports.method_style import MethodStyle
from assay.reports.plots import banded_curves
from assay.reports.study_page import Fact, preset_fact
from assay.reports.symbols import Symbol
from assay.statistics.bootstrap import Interval
from assay.studies.roar.curves import MEASURABLE, Curves
from assay.studies.roar.result import (
    RoarResult,
    out_of_distribution,
    percent,
    percent_gap,
    percent_interval,
    ranked,
    remarks,
    title,
)
from assay.studies.roar.study import RANDOM

SYMBOLS = {
    FAITHFUL: Symbol("★", FAITHFUL, "best"),
    NOT_FAITHFUL: Symbol("▼", NOT_FAITHFUL, "bad"),
    INCONCLUSIVE: Symbol("○", INCONCLUSIVE, "open"),
}
SPARSITY = {
    "top_1": "top 1",
    "top_3": "top 3",
    "top_5": "top 5",
    "top_10": "top 10",
    "share_10": "top 10 %",
    "share_20": "top 20 %",
    "share_50": "top 50 %",
}
RETRAINED = "after retraining on data without the most important words (ROAR: remove and retrain)"
ONE_MODEL = "of one model that was trained with masks, as the most important words are masked"

NumberRow = tuple[MethodStyle, Sequence[str]]


@dataclass(frozen=True)
class AreaRow:
    style: MethodStyle
    area: str
    cells: Sequence[str]  # three intervals, the distance to the best, the number of seeds
    verdict: Symbol


@dataclass(frozen=True)
class Remark:
    text: str
    css: str  # note or warn


@dataclass(frozen=True)
class CurveSection:
    """One study: curves, areas, and for a measurable model the inputs that are out of distribution."""

    title: str
    setting: str
    plot: Markup
    areas: Sequence[AreaRow]
    compared: bool  # whether there are areas to compare with the largest
    remarks: Sequence[Remark]
    ratios: Sequence[str]
    outside: Sequence[NumberRow]


@dataclass(frozen=True)
class TimeRow:
    style: MethodStyle
    study: str
    cells: Sequence[str]  # seconds explaining, seconds training, minutes in total


def page(result: RoarResult, command: str | None = None) -> str:
    """The page; `command` is the command line that created it, if there was one."""
    styles = result.method_styles
    return render(
        "studies/roar/page.html.jinja",
        title=f"Which words does a model of {result.curves[0].data} need?",
        verdict=result.verdict or ["No method is finished yet."],
        warnings=[
            *(result.preset.warnings if result.preset else ()),
            *dict.fromkeys(note for curves in result.curves for note in curves.notes),
        ],
        preset=result.preset,
        facts=_facts(result),
        score=result.score,
        studies=[
            _section(curves, judged, result)
            for curves, judged in zip(result.curves, result.judged, strict=True)
            if judged
        ],
        sparsity_columns=list(SPARSITY.values()),
        sparsity=_sparsity(result.curves, styles),
        times=_times(result.curves, styles),
        command=command,
        intervals_over="seeds and test examples",
    )


def _facts(result: RoarResult) -> list[Fact]:
    seeds = sorted({seed for curves in result.curves for seeds in curves.seeds.values() for seed in seeds})
    return [
        Fact("model", ", ".join(dict.fromkeys(curves.base for curves in result.curves))),
        Fact("data", ", ".join(dict.fromkeys(curves.data for curves in result.curves))),
        Fact("test examples", str(len(result.curves[0].gold))),
        Fact("seeds", ", ".join(map(str, seeds))),
        Fact("score", result.score),
        *preset_fact(result.preset),
    ]


def _section(curves: Curves, judged: Mapping[str, Faithfulness], result: RoarResult) -> CurveSection:
    styles, name, behind = result.method_styles, title(curves), curves.behind(judged)
    return CurveSection(
        title=name,
        setting=ONE_MODEL if curves.form == MEASURABLE else RETRAINED,
        plot=_plot(curves, result, name),
        areas=_areas(judged, behind, styles),
        compared=bool(behind),
        remarks=[
            Remark(text, "note" if COVERAGE in text else "warn")
            for text in (*remarks(judged), *out_of_distribution(curves))
        ],
        ratios=[f"{100 * ratio:.0f} %" for ratio in curves.ratios],
        outside=[(styles[m], [f"{100 * share:.1f}" for share in shares]) for m, shares in curves.outside.items()],
    )


def _plot(curves: Curves, result: RoarResult, name: str) -> Markup:
    bands, n = curves.bands(result.score), len(curves.axis)
    return banded_curves(
        {m: band.mean[:n] for m, band in bands.items()},
        {m: (band.low[:n], band.high[:n]) for m, band in bands.items()},
        [f"{at:g}" for at in curves.axis],
        result.method_styles,
        f"{result.score} of {name}",
        curves.unit,
    )


def _areas(
    judged: Mapping[str, Faithfulness], behind: Mapping[str, Interval], styles: Mapping[str, MethodStyle]
) -> list[AreaRow]:
    rows = []
    for method in ranked(judged):
        f = judged[method]
        intervals = [percent_interval(interval) for interval in (f.both, f.bca, f.t)]
        gap = [percent_gap(behind.get(method))] if behind else []
        cells = [*intervals, *gap, str(len(f.seeds))]
        rows.append(AreaRow(styles[method], percent(f.value), cells, SYMBOLS[f.verdict]))
    return rows


def _sparsity(all_curves: Sequence[Curves], styles: Mapping[str, MethodStyle]) -> list[NumberRow]:
    masses = {method: of_method for curves in all_curves for method, of_method in curves.sparsity.items()}
    return [
        (styles[method], [f"{100 * of_method[name]:.1f}" for name in SPARSITY])
        for method, of_method in masses.items()
        if method in styles
    ]


def _times(all_curves: Sequence[Curves], styles: Mapping[str, MethodStyle]) -> list[TimeRow]:
    rows = []
    for curves in all_curves:
        for method, spent in curves.seconds.items():
            if method in styles:
                explain, train = (spent.get(name, 0.0) for name in ("explain", "train"))
                explained = curves.steps if curves.form == "Recursive ROAR" and method != RANDOM else 1
                trained = 1 if curves.form == MEASURABLE else curves.steps
                minutes = (explain * explained + train * trained) / 60
                cells = [f"{value:.1f}" for value in (explain, train, minutes)]
                rows.append(TimeRow(styles[method], title(curves), cells))
    return rows
