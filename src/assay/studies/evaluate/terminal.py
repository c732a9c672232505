"""An evaluation in a terminal: one block per metric, best method first, with interval bars made of characters."""

from __future__ import annotations

import math

from rich.table import Table
from rich.text import Text

from assay.reports.plots import bar_axis
from assay.reports.symbols import arrow, format_interval, gain_of, legend, symbol_of
from assay.statistics.verdict import Comparison, Standing
from assay.studies.evaluate.result import Result

COLOURS = {"best": "bold cyan", "good": "green", "open": "yellow", "bad": "red", "none": "dim"}
BAR = 24  # characters
WIDE = 100  # columns; narrower terminals have no room for bars


def ranking_table(result: Result, width: int) -> Table:
    """Method, mean, interval, bar and verdict with the gain over random; no bars and gains in a narrow terminal."""
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False, pad_edge=False)
    table.caption, table.caption_justify = _legend(result, gains=width >= WIDE), "left"
    for words in (True, False, False, False, True) if width >= WIDE else (True, False, False, True):
        table.add_column(no_wrap=not words, overflow="fold")  # words may wrap, numbers must not
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
    symbol = symbol_of(standing, comparison)
    value, interval = format_interval(standing.value, standing.low, standing.high, comparison.margin)
    strong = "bold" if symbol.kind == "best" else ""
    cells = [Text(f"  {standing.method}", style=strong), Text(value, style=strong, justify="right"), Text(interval)]
    cells += [Text(_bar(standing, comparison), style="cyan")] if bar else []
    gain = gain_of(standing, comparison) if bar else ""
    label = f"{symbol.sign} {symbol.label}" + (f" ({gain})" if gain else "")
    return [*cells, Text(label, style=COLOURS[symbol.kind])]


def _legend(result: Result, *, gains: bool) -> Text:
    symbols = [symbol for symbol in legend(list(result.comparisons.values())) if symbol.meaning]
    lines = [f"{symbol.sign} {symbol.legend}" for symbol in symbols]
    lines += ["in brackets: how much better the mean is than that of random"] if result.control and gains else []
    return Text("\n".join(lines), style="dim")


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
