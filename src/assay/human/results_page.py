"""The page of the results of a human study, and its tables for the terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from assay.core.render import render, write_page
from assay.human.results import HumanResults
from assay.reports.method_style import MethodStyle, method_styles
from assay.reports.plots import Axis, WithInterval, interval_bar, nice_ticks
from assay.reports.study_page import Fact
from assay.reports.symbols import format_interval
from assay.statistics.preferences.crossed import all_alike
from assay.statistics.preferences.guesses import NO_EXPLANATION

KINDS = {"ranking": "rankings", "choice": "choices", "guess": "guesses", "next_guess": "guesses"}


@dataclass(frozen=True)
class Bar:
    """A method's number with its interval, drawn."""

    style: MethodStyle
    numbers: tuple[str, str]
    bar: Markup


@dataclass(frozen=True)
class Guessed:
    """A number of guesses as plots take it."""

    method: str
    value: float
    low: float
    high: float


def results_page(results: HumanResults, command: str | None = None) -> str:
    """A self-contained page. command: the command line to show in it."""
    folder = results.folder
    facts = [
        Fact("participants", str(results.participants), f"{folder.seats} are needed"),
        Fact("examples", str(len(folder.examples)), f"{folder.study.annotators} annotators each"),
        Fact(KINDS[folder.study.kind], str(len(results.answers)), "with practice and repeated ones"),
    ]
    styles = method_styles([*results.names.values(), NO_EXPLANATION], NO_EXPLANATION)
    return render(
        "human/results.html.jinja",
        title=f"Human study: {folder.title}",
        verdict=results.verdict,
        warnings=results.gaps,
        facts=facts,
        intervals_over="participants and examples" if results.participants > 1 else "the examples of one participant",
        question=folder.study.asked,
        results=results,
        styles=styles,
        bars=_bars(results, styles),
        command=command,
        p_value=_p_value,
        least_p=all_alike(results.participants),
        percent=lambda share: f"{100 * share:.0f} %",
        number=lambda value: "–" if value is None or math.isnan(value) else f"{value:.2f}",
    )


def write_results(results: HumanResults, path: str | Path, command: str | None = None) -> None:
    write_page(results_page(results, command), path)


def _p_value(p: float | None) -> str:
    return "–" if p is None or math.isnan(p) else "< 0.001" if p < 0.001 else f"{p:.2g}" if p < 0.1 else f"{p:.2f}"


def _bars(results: HumanResults, styles: dict[str, MethodStyle]) -> list[Bar]:
    rows: Sequence[WithInterval] = results.strengths if not results.is_guess else [
        Guessed(row.condition, row.value, row.low, row.high) for row in results.simulatability
    ]  # fmt: skip
    ends = [end for row in rows for end in (row.value, row.low, row.high) if math.isfinite(end)]
    ticks = nice_ticks(min(ends), max(ends) if max(ends) > min(ends) else min(ends) + 1, count=4)
    axis = Axis(ticks[0], ticks[-1])
    return [
        Bar(
            styles[row.method],
            format_interval(row.value, row.low, row.high),
            interval_bar(row, styles[row.method], axis, None),
        )
        for row in rows
    ]
