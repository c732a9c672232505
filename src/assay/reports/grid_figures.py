"""Figures of a study over a grid of models: lines over the size of a family, bars or panels over the other models."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assay.core.names import safe_name
from assay.core.spec import parse
from assay.experiments.study import ReportContext
from assay.reports.aggregate import Point
from assay.reports.figures import Panel, bars, lines
from assay.reports.method_style import short_names

Row = Mapping[str, Any]
Points = Mapping[tuple[Any, str], Point]


@dataclass(frozen=True)
class Grid:
    """The rows of one study on one data set, and where to draw its figures."""

    rows: Sequence[Row]
    sizes: Mapping[str, Mapping[str, float]]  # family -> grid -> parameters, of families with several sizes
    folder: Path
    ending: str
    methods: Sequence[str]  # in the order of their colours

    @property
    def other_models(self) -> dict[str, str]:
        """Models that belong to no family with several sizes."""
        sized = {grid for sizes in self.sizes.values() for grid in sizes}
        return {grid: grid for grid in dict.fromkeys(str(row["grid"]) for row in self.rows) if grid not in sized}

    def path(self, name: str) -> Path:
        return self.folder / f"{name}.{self.ending}"

    def lines_and_bars(self, by_size: Sequence[Panel], by_model: Sequence[Panel], note: str = "") -> Iterator[Path]:
        """Lines over size for every family with several sizes, and bars for all other models."""
        for family, sizes in self.sizes.items():
            if panels := only_models(by_size, sizes):
                yield lines(panels, sizes, self.path(f"by size of {family}"), note=note, order=self.methods)
        if panels := only_models(by_model, names := self.other_models):
            yield bars(panels, names, self.path("by model"), order=self.methods)


def draw(context: ReportContext, figures: Callable[[Grid], Iterator[Path]]) -> list[Path]:
    """Draw a study's figures, for each of its data sets in a folder of its own if it has several."""
    if context.figures is None:
        return []
    sizes, paths = family_sizes(context.models), list[Path]()
    groups = _by_data(context.rows)
    for data, rows in groups.items():
        name = str(rows[0]["study"]) if len(groups) == 1 else f"{rows[0]['study']} on {data}"
        paths += figures(Grid(rows, sizes, context.figures / safe_name(name), context.ending, context.methods))
    return paths


def family_sizes(models: Sequence[Row]) -> dict[str, dict[str, float]]:
    """{family: {grid: parameters}} of families with at least two sizes trained from random weights."""
    sizes: dict[str, dict[str, float]] = defaultdict(dict)
    for row in models:
        if not row["pretrained"] and row["parameters"]:
            sizes[parse(str(row["base"])).name][str(row["grid"])] = float(row["parameters"])
    return {family: grids for family, grids in sizes.items() if len(set(grids.values())) > 1}


def only_models(panels: Sequence[Panel], grids: Iterable[str]) -> list[Panel]:
    """The panels with the points of some models; panels without any are left out."""
    wanted = set(grids)

    def cut(points: Points) -> Points:
        return {key: point for key, point in points.items() if key[0] in wanted}

    cut_panels = [replace(panel, points=cut(panel.points), dotted=cut(panel.dotted)) for panel in panels]
    return [panel for panel in cut_panels if panel.points or panel.dotted]


def _by_data(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Rows by data set, with short method names, so that IG with 8 and with 50 steps look alike.

    An external model is a grid of its own.
    """
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[str(row.get("data", ""))].append({"grid": row["model"], **row})
    return {data: _with_short_names(group) for data, group in groups.items()}


def _with_short_names(rows: Sequence[Row]) -> list[Row]:
    names = short_names(list(dict.fromkeys(row["method"] for row in rows)))
    return [{**row, "method": names[row["method"]]} for row in rows]
