"""The comparison of methods on a metric as matplotlib axes, for papers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.core.optional import optional
from assay.reports.legend import MARKS
from assay.reports.method_style import MethodStyle
from assay.statistics.verdict import Comparison

ROW = 0.34  # inches per method


def plot_comparisons(comparisons: Mapping[str, Comparison], styles: Mapping[str, MethodStyle]) -> list[Any]:
    """One panel per metric, below each other."""
    pyplot = optional("matplotlib.pyplot", "plots")
    heights = [len(c.standings) * ROW + 1.0 for c in comparisons.values()]
    _, axes = pyplot.subplots(
        len(heights), 1, squeeze=False, layout="constrained", figsize=(5.4, sum(heights)), height_ratios=heights
    )
    pairs = zip(axes[:, 0], comparisons.items(), strict=True)
    return [plot_comparison(metric, comparison, styles, ax) for ax, (metric, comparison) in pairs]


def plot_comparison(metric: str, comparison: Comparison, styles: Mapping[str, MethodStyle], ax: Any = None) -> Any:
    """The mean of every method with its interval, best first."""
    if ax is None:
        pyplot = optional("matplotlib.pyplot", "plots")
        ax = pyplot.subplots(layout="constrained", figsize=(5.4, len(comparison.standings) * ROW + 1.0))[1]
    for place, standing in enumerate(comparison.standings):
        style, known = styles[standing.method], standing.low == standing.low and standing.high == standing.high
        error = [[standing.value - standing.low], [standing.high - standing.value]] if known else None
        ax.errorbar(
            standing.value, place, xerr=error, fmt=MARKS[style.marker], color=style.colour, capsize=3,
            markerfacecolor="white" if style.marker == "ring" else style.colour,
        )  # fmt: skip
    names = [styles[s.method].short.replace("$", r"\$") for s in comparison.standings]
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.grid(axis="x", color="#dde3e9", linewidth=0.7)
    ax.set_axisbelow(True)
    ax.set_title(metric.replace("$", r"\$"), fontsize="medium")
    ax.set_xlabel(f"mean and 95 % interval, n = {comparison.n}; {comparison.better} is better")
    return ax
