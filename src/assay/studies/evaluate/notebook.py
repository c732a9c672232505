"""An evaluation in a notebook: the verdict and a table with intervals."""

from __future__ import annotations

from assay.core.render import render
from assay.reports.symbols import format_interval, symbol_of
from assay.studies.evaluate.result import Result


def fragment(result: Result) -> str:
    """The verdict and the table as a piece of HTML with inline styles only."""
    names = {method: style.short for method, style in result.method_styles.items()}
    tables = {
        metric: [
            (names[s.method], *format_interval(s.value, s.low, s.high), symbol_of(s, comparison))
            for s in comparison.standings
        ]
        for metric, comparison in result.comparisons.items()
    }
    return render("studies/evaluate/notebook.html.jinja", result=result, tables=tables)
