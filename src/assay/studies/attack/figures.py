"""The figures of attacks in a plan: one panel per measure; over size, the second objective is dotted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.evaluation.adversarial.top_k_attack import MEASURES
from assay.reports.aggregate import points
from assay.reports.figures import Panel
from assay.reports.grid_figures import Grid

SHOWN = [name for name in MEASURES if name not in ("probability_change", "succeeded", "moved")]  # as the thesis draws
SOLID, DOTTED = "prediction_kept", "probability_matched"


def figures(grid: Grid) -> Iterator[Path]:
    panels = attack_panels(grid.rows)
    solid, dotted = panels.get(SOLID, {}), panels.get(DOTTED, {})
    if solid and dotted:
        by_size = [replace(solid[m], title="", dotted=dotted[m].points) for m in SHOWN]
    else:
        by_size = [panel for measures in panels.values() for panel in measures.values()]
    by_model = [panels[objective][measure] for measure in SHOWN for objective in panels]
    yield from grid.lines_and_bars(by_size, by_model, note=f"{DOTTED} (dotted)")


def attack_panels(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Panel]]:
    """{objective: {measure: panel}}."""
    panels: dict[str, dict[str, Panel]] = {}
    for objective in dict.fromkeys(row["objective"] for row in rows):
        rows_here = [row for row in rows if row["objective"] == objective]
        measures = {measure: points(rows_here, value=measure) for measure in SHOWN}
        panels[objective] = {
            measure: Panel(objective, measure, {(grid, method): point for (grid, method), point in values.items()})
            for measure, values in measures.items()
        }
    return panels
