"""The values of the tables of an evaluation's page: all metrics at a glance, rankings, costs and performance."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from assay.reports.method_style import MethodStyle
from assay.reports.plots import Axis, bar_axis, interval_bar
from assay.reports.symbols import Symbol, format_interval, gain_of, legend, symbol_of
from assay.statistics.bootstrap import Interval
from assay.statistics.sentences import number
from assay.statistics.verdict import Comparison, Standing
from assay.studies.evaluate.evaluation import Evaluation

Styles = Mapping[str, MethodStyle]


@dataclass(frozen=True)
class Measurement:
    """A formatted mean with its interval."""

    value: str
    interval: str

    @classmethod
    def of(cls, interval: Interval | Standing, margin: float = 0.0) -> Measurement:
        return cls(*format_interval(interval.value, interval.low, interval.high, margin))


# --- at a glance -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Glance:
    """Methods by metrics, a symbol in each cell."""

    better: Mapping[str, str]  # by metric: higher or lower
    rows: Sequence[tuple[MethodStyle, Sequence[tuple[Symbol, Measurement]]]]
    legend: Sequence[Symbol]


def glance(comparisons: Mapping[str, Comparison], styles: Styles) -> Glance:
    """Methods that are most often in the best group stand first."""
    rows = [
        (styles[method], [(symbol_of(c[method], c), Measurement.of(c[method], c.margin)) for c in comparisons.values()])
        for method in _by_success(comparisons, styles)
    ]
    return Glance({metric: c.better for metric, c in comparisons.items()}, rows, legend(list(comparisons.values())))


def _by_success(comparisons: Mapping[str, Comparison], styles: Styles) -> list[str]:
    best, beats = Counter[str](), Counter[str]()
    for comparison in comparisons.values():
        for standing in comparison.standings:
            best[standing.method] += standing.best_group and standing.beats_random is not False
            beats[standing.method] += bool(standing.beats_random)
    return sorted(styles, key=lambda m: (styles[m].control, -best[m], -beats[m]))


# --- rankings --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RankingRow:
    style: MethodStyle
    symbol: Symbol
    gain: str  # over random
    bar: Markup
    mean: Measurement
    by_size: str  # mean if signs are ignored; empty: not computed
    unsigned: bool  # beside signed methods, where it matters
    chosen_by: str  # the metric that chose the explanations in hindsight; empty: none


@dataclass(frozen=True)
class Ranking:
    """The methods of one metric, best first, with interval bars on one axis."""

    metric: str
    better: str
    n: int
    axis_low: str
    axis_high: str
    rows: Sequence[RankingRow]


def ranking(metric: str, comparison: Comparison, styles: Styles, methods: Mapping[str, Any]) -> Ranking:
    axis = bar_axis(comparison)
    reference = comparison[comparison.control].value if comparison.control else None
    rows = [
        _ranking_row(s, comparison, styles[s.method], axis, reference, getattr(methods.get(s.method), "hindsight", ""))
        for s in comparison.standings
    ]
    return Ranking(metric, comparison.better, comparison.n, number(axis.low), number(axis.high), rows)


def _ranking_row(
    standing: Standing,
    comparison: Comparison,
    style: MethodStyle,
    axis: Axis,
    reference: float | None,
    chosen_by: str,
) -> RankingRow:
    bar = interval_bar(standing, style, axis, reference)
    two_readings = any(s.by_size is not None for s in comparison.standings)
    return RankingRow(
        style,
        symbol_of(standing, comparison),
        gain_of(standing, comparison),
        bar,
        Measurement.of(standing, comparison.margin),
        by_size="" if standing.by_size is None else number(standing.by_size),
        unsigned=two_readings and standing.by_size is None and not style.control,
        chosen_by=chosen_by,
    )


# --- costs and performance -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CostRow:
    """Means per example."""

    style: MethodStyle
    alone: str  # passes if the method is run alone
    forward: str
    backward: str
    seconds: str
    share: float  # of the slowest method's time, in per cent


def costs(evaluation: Evaluation, styles: Styles) -> list[CostRow]:
    seconds = {m: float(np.mean(evaluation.seconds[m])) for m in styles}
    slowest = max(seconds.values()) or 1.0
    rows = []
    for method, style in styles.items():
        forward, backward = (number(float(passes)) for passes in evaluation.passes[method].mean(0))
        time = f"{seconds[method]:.2g}" if seconds[method] >= 0.001 else "< 0.001"
        alone = _passes_alone(evaluation.methods[method])
        rows.append(CostRow(style, alone, forward, backward, time, 100 * seconds[method] / slowest))
    return rows


def _passes_alone(method: Any) -> str:
    """The method's declared passes, with the abbreviations f and b written out."""
    words = {"f": "forward", "b": "backward"}
    return re.sub(r"\b[fb]\b", lambda match: words[match[0]], str(method.facts.passes))


def performance_rows(performance: Mapping[str, Interval]) -> dict[str, Measurement]:
    return {name: Measurement.of(interval) for name, interval in performance.items()}
