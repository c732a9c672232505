"""An evaluation for a terminal: one block per metric, best first, with interval bars drawn in characters."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from assay.reports.plots import bar_axis
from assay.reports.symbols import arrow, figures, mark
from assay.statistics.verdict import Comparison, Standing

if TYPE_CHECKING:
    from assay.studies.evaluate.result import Result

COLOURS = {"best": "bold cyan", "good": "green", "open": "yellow", "bad": "red", "none": "dim"}
BAR = 24  # characters
WIDE = 100  # columns that a bar needs to be worth its place


def ranking_table(result: Result, width: int) -> Table:
    """Method, mean, interval, bar and what it means."""
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False, pad_edge=False)
    table.caption, table.caption_justify = _explained(result.comparisons.values()), "left"
    for words in (True, False, False, False, True) if width >= WIDE else (True, False, False, True):
        table.add_column(no_wrap=not words, overflow="fold")  # words may take two lines, but numbers are never cut
    for metric, comparison in result.comparisons.items():
        table.add_row(*_head(metric, comparison))
        for standing in comparison.standings:
            table.add_row(*_row(standing, comparison, bar=width >= WIDE))
        table.add_row()
    return table


def _head(metric: str, comparison: Comparison) -> list[Text]:
    better = f"{arrow(comparison.better)} {comparison.better}"
    return [
        Text(metric, style="bold"),
        Text(better, style="dim"),
        Text(f"is better, n = {comparison.n}", style="dim"),
    ]


def _row(standing: Standing, comparison: Comparison, *, bar: bool) -> list[Text]:
    shown = mark(standing, comparison)
    value, interval = figures(standing.value, standing.low, standing.high)
    strong = "bold" if shown.kind == "best" else ""
    cells = [Text(f"  {standing.method}", style=strong), Text(value, style=strong, justify="right"), Text(interval)]
    cells += [Text(_bar(standing, comparison), style="cyan")] if bar else []
    short = shown.words.partition(":")[0]  # the rest is said once, below the table
    return [*cells, Text(f"{shown.sign} {short}", style=COLOURS[shown.kind])]


def _explained(comparisons: Iterable[Comparison]) -> Text | None:
    marks = {mark(standing, comparison) for comparison in comparisons for standing in comparison.standings}
    long = sorted(f"{shown.sign} {shown.words}" for shown in marks if ":" in shown.words)
    return Text("\n".join(long), style="dim") if long else None


def _bar(standing: Standing, comparison: Comparison) -> str:
    """The interval as a line with a point at the mean."""
    axis = bar_axis(comparison)

    def place(value: float) -> int:
        return min(BAR - 1, max(0, round(axis.at(value) / 100 * (BAR - 1))))

    known = math.isfinite(standing.low) and math.isfinite(standing.high)
    low, high = (place(standing.low), place(standing.high)) if known else (0, -1)
    out = ["━" if low <= i <= high else "·" for i in range(BAR)]
    out[place(standing.value)] = "●"
    return "".join(out)
