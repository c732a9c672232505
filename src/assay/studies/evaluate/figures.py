"""The figures of evaluations in a plan: one panel per metric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.evaluation import METRICS
from assay.reports.aggregate import points
from assay.reports.figures import Panel
from assay.reports.grid_figures import Grid
from assay.reports.symbols import arrow


def figures(grid: Grid) -> Iterator[Path]:
    panels = metric_panels(grid.rows)
    yield from grid.lines_and_bars(panels, panels)


def metric_panels(rows: Sequence[Mapping[str, Any]]) -> list[Panel]:
    """One panel per metric, labelled with the direction in which it is better."""
    panels = []
    for metric in dict.fromkeys(row["metric"] for row in rows):
        name = metric.partition("(")[0]
        values = points([row for row in rows if row["metric"] == metric])
        label = f"{name} {arrow(METRICS.get(name).facts.better)}"
        panels.append(Panel("", label, {(grid, method): point for (grid, method), point in values.items()}))
    return panels
