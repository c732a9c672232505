"""The figures of any plan: which rows go on lines over size, on bars over models, or on curves over blocks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.core.spec import parse
from assay.evaluation.adversarial.top_k_attack import MEASURES
from assay.reports.bands import points
from assay.reports.figures import Panel, bars, curves, lines

Row = Mapping[str, Any]


def plan_figures(rows: Iterable[Row], models: Sequence[Row], folder: Path, ending: str = "png") -> list[Path]:
    """Every figure that the rows of a plan allow, as STUDY/NAME.png; `models` are the rows of `sizes`."""
    made: list[Path] = []
    scales = axes_of_size(models)
    for study, found in _by_study(rows).items():
        place = folder / study
        if "mode" in found[0]:
            made += [curves(p, place / f"{mode}.{ending}") for mode, p in randomisation(found).items()]
            continue
        for metric, panel in metric_panels(found).items():
            name = metric.partition("(")[0]
            for family, parameters in scales.items():
                part = {key: p for key, p in panel.points.items() if key[0] in parameters}
                if part:
                    target = place / f"{name} by size of {family}.{ending}"
                    made.append(lines([Panel(panel.title, panel.label, part)], parameters, target))
            names = {str(grid): str(grid) for grid, _ in panel.points}
            made.append(bars([panel], names, place / f"{name} by model.{ending}"))
    return made


def axes_of_size(models: Sequence[Row]) -> dict[str, dict[str, float]]:
    """{family: {grid: parameters}} of families of which at least two sizes were trained from random weights."""
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for row in models:
        if not row["pretrained"] and row["parameters"]:
            found[parse(str(row["base"])).name][str(row["grid"])] = float(row["parameters"])
    return {family: sizes for family, sizes in found.items() if len(set(sizes.values())) > 1}


def metric_panels(rows: Sequence[Row]) -> dict[str, Panel]:
    """A panel per metric of an evaluation, or per objective and measure of an attack."""
    out: dict[str, Panel] = {}
    if "objective" in rows[0]:
        for objective in dict.fromkeys(row["objective"] for row in rows):
            part = [row for row in rows if row["objective"] == objective]
            for measure in MEASURES[:3]:
                out[f"{measure} {objective}"] = Panel(objective, measure, _pairs(points(part, value=measure)))
        return out
    for metric in dict.fromkeys(row["metric"] for row in rows):
        found = points([row for row in rows if row["metric"] == metric])
        out[metric] = Panel(metric.partition("(")[0], metric.partition("(")[0], _pairs(found))
    return out


def randomisation(rows: Sequence[Row]) -> dict[str, list[Panel]]:
    """{mode: a panel per model} of a layer randomisation."""
    out: dict[str, list[Panel]] = {}
    for mode in dict.fromkeys(row["mode"] for row in rows):
        found = points([row for row in rows if row["mode"] == mode], ("grid", "block", "method"), "spearman")
        grids = dict.fromkeys(grid for grid, _, _ in found)
        out[mode] = [
            Panel(str(grid), "Spearman", {(b, m): p for (g, b, m), p in found.items() if g == grid}) for grid in grids
        ]
    return out


def _pairs(found: Mapping[tuple[Any, ...], Any]) -> dict[tuple[Any, str], Any]:
    return {(grid, method): point for (grid, method), point in found.items()}


def _by_study(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Rows with a method and an example; those of a model from outside are their own grid."""
    out: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if "method" in row and "example" in row:
            out[row["study"]].append({"grid": row["model"], **row})
    return out
