"""An evaluation in a notebook: the verdict and a table with intervals for each metric."""

from __future__ import annotations

from assay.reports.notebook import Block, Line, fragment
from assay.reports.symbols import symbol_of
from assay.statistics.verdict import Comparison
from assay.studies.evaluate.result import Result


def in_notebook(result: Result) -> str:
    blocks = [_block(result, metric, comparison) for metric, comparison in result.comparisons.items()]
    return fragment([result.overall], result.evaluation.summary, blocks)


def _block(result: Result, metric: str, comparison: Comparison) -> Block:
    lines = []
    for s in comparison.standings:
        symbol = symbol_of(s, comparison)
        name = result.method_styles[s.method].short
        lines.append(Line(name, s.value, s.low, s.high, f"{symbol.sign} {symbol.label}"))
    return Block(metric, f"{comparison.better} is better, n = {comparison.n}", lines)
