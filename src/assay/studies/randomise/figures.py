"""The figures of layer randomisation in a plan: one figure per mode, one panel per model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.reports.aggregate import points
from assay.reports.figures import Panel, curves
from assay.reports.grid_figures import Grid


def figures(grid: Grid) -> Iterator[Path]:
    groups = {f"size of {family}": sorted(sizes, key=sizes.__getitem__) for family, sizes in grid.sizes.items()}
    groups["model"] = list(grid.other_models)
    for mode, panels in mode_panels(grid.rows).items():
        for name, models in groups.items():
            if shown := [panels[model] for model in models if model in panels]:
                yield curves(shown, grid.path(f"{mode} by {name}"), order=grid.methods)


def mode_panels(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Panel]]:
    """{mode: {model: panel}} of the correlation over blocks."""
    panels: dict[str, dict[str, Panel]] = {}
    for mode in dict.fromkeys(row["mode"] for row in rows):
        values = points([row for row in rows if row["mode"] == mode], ("grid", "block", "method"), "spearman")
        lowest = min([0.0, *(min(p.low, *p.spread) for p in values.values())])
        models = dict.fromkeys(model for model, _, _ in values)
        panels[mode] = {model: _panel(model, values, (lowest - 0.05, 1.05)) for model in models}
    return panels


def _panel(model: Any, values: Mapping[tuple[Any, ...], Any], limits: tuple[float, float]) -> Panel:
    here = {(block, method): point for (grid, block, method), point in values.items() if grid == model}
    return Panel(str(model), "Spearman", here, limits=limits)
