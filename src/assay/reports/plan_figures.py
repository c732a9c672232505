"""The figures of a plan: lines over model size, bars over models, curves over randomised blocks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.core.spec import parse
from assay.evaluation.adversarial.top_k_attack import MEASURES
from assay.evaluation.metrics import metric_class
from assay.reports.aggregate import Point, points
from assay.reports.figures import Panel, bars, curves, lines
from assay.reports.method_style import short_names
from assay.reports.symbols import arrow

Row = Mapping[str, Any]
Points = Mapping[tuple[Any, str], Point]
SHOWN = [name for name in MEASURES if name not in ("probability_change", "succeeded")]  # of an attack
SOLID, DOTTED = "prediction_kept", "probability_matched"  # of its objectives


def plan_figures(rows: Iterable[Row], models: Sequence[Row], folder: Path, ending: str = "png") -> list[Path]:
    """Draw every figure that the rows of a plan allow, as STUDY/NAME.png. models: the rows of `model_table`.

    A method has one colour in all figures. Families with several sizes get lines, all other models bars.
    """
    files: list[Path] = []
    groups, axes = _by_study(rows), axes_of_size(models)
    order = list(dict.fromkeys(row["method"] for group in groups.values() for row in group))
    order.sort(key=lambda method: method.partition("(")[0] == "random")  # the control comes last
    for study, group in groups.items():
        draw = _randomised if "mode" in group[0] else _attacked if "objective" in group[0] else _evaluated
        files += draw(group, axes, folder / study, ending, order)
    return files


def axes_of_size(models: Sequence[Row]) -> dict[str, dict[str, float]]:
    """{family: {grid: parameters}} of families with at least two sizes trained from random weights."""
    families: dict[str, dict[str, float]] = defaultdict(dict)
    for row in models:
        if not row["pretrained"] and row["parameters"]:
            families[parse(str(row["base"])).name][str(row["grid"])] = float(row["parameters"])
    return {family: sizes for family, sizes in families.items() if len(set(sizes.values())) > 1}


Axes = Mapping[str, Mapping[str, float]]


def _evaluated(rows: Sequence[Row], axes: Axes, place: Path, ending: str, order: Sequence[str]) -> Iterator[Path]:
    """A panel per metric."""
    panels = metric_panels(rows)
    for family, sizes in axes.items():
        if some := _at(panels, sizes):
            yield lines(some, sizes, place / f"by size of {family}.{ending}", order=order)
    if some := _at(panels, names := _others(rows, axes)):
        yield bars(some, names, place / f"by model.{ending}", order=order)


def _attacked(rows: Sequence[Row], axes: Axes, place: Path, ending: str, order: Sequence[str]) -> Iterator[Path]:
    """A panel per measure; over size the second objective is dotted, over models it has panels of its own."""
    by = attack_panels(rows)
    solid, dotted = (by.get(o, {}) for o in (SOLID, DOTTED))
    both = [replace(solid[m], title="", dotted=dotted[m].points) for m in SHOWN] if solid and dotted else []
    for family, sizes in axes.items():
        if some := _at(both or [panel for panels in by.values() for panel in panels.values()], sizes):
            yield lines(some, sizes, place / f"by size of {family}.{ending}", note=f"{DOTTED} (dotted)", order=order)
    if some := _at([by[o][m] for m in SHOWN for o in by], names := _others(rows, axes)):
        yield bars(some, names, place / f"by model.{ending}", order=order)


def _randomised(rows: Sequence[Row], axes: Axes, place: Path, ending: str, order: Sequence[str]) -> Iterator[Path]:
    """A figure per mode, a panel per model."""
    groups = {f"size of {family}": sorted(sizes, key=sizes.__getitem__) for family, sizes in axes.items()}
    groups["model"] = list(_others(rows, axes))
    for mode, panels in randomisation(rows).items():
        for word, grids in groups.items():
            if some := [panels[grid] for grid in grids if grid in panels]:
                yield curves(some, place / f"{mode} by {word}.{ending}", order=order)


def metric_panels(rows: Sequence[Row]) -> list[Panel]:
    """A panel per metric of an evaluation, with the direction of what is better."""
    out = []
    for name in dict.fromkeys(row["metric"] for row in rows):
        bare = name.partition("(")[0]
        by_place = points([row for row in rows if row["metric"] == name])
        out.append(Panel("", f"{bare} {arrow(metric_class(bare).better)}", _pairs(by_place)))
    return out


def attack_panels(rows: Sequence[Row]) -> dict[str, dict[str, Panel]]:
    """{objective: {measure: panel}} of an attack."""
    return {
        objective: {m: Panel(objective, m, _pairs(points([r for r in rows if r["objective"] == objective], value=m)))
                    for m in SHOWN}
        for objective in dict.fromkeys(row["objective"] for row in rows)
    }  # fmt: skip


def randomisation(rows: Sequence[Row]) -> dict[str, dict[str, Panel]]:
    """{mode: {model: panel}} of a layer randomisation."""
    out: dict[str, dict[str, Panel]] = {}
    for mode in dict.fromkeys(row["mode"] for row in rows):
        by_place = points([row for row in rows if row["mode"] == mode], ("grid", "block", "method"), "spearman")
        lowest = min([0.0, *(min(p.low, *p.spread) for p in by_place.values())])
        out[mode] = {
            grid: Panel(str(grid), "Spearman", {(b, m): p for (g, b, m), p in by_place.items() if g == grid},
                        limits=(lowest - 0.05, 1.05))
            for grid in dict.fromkeys(grid for grid, _, _ in by_place)
        }  # fmt: skip
    return out


def _at(panels: Sequence[Panel], grids: Iterable[str]) -> list[Panel]:
    """The panels reduced to some models, without panels that become empty."""
    wanted = set(grids)

    def reduced(some: Points) -> Points:
        return {key: point for key, point in some.items() if key[0] in wanted}

    panels = [replace(panel, points=reduced(panel.points), dotted=reduced(panel.dotted)) for panel in panels]
    return [panel for panel in panels if panel.points or panel.dotted]


def _others(rows: Sequence[Row], axes: Axes) -> dict[str, str]:
    """Models that are not on an axis of sizes."""
    sized = {grid for sizes in axes.values() for grid in sizes}
    return {grid: grid for grid in dict.fromkeys(str(row["grid"]) for row in rows) if grid not in sized}


def _pairs(by_place: Mapping[tuple[Any, ...], Point]) -> Points:
    return {(grid, method): point for (grid, method), point in by_place.items()}


def _by_study(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Rows with a method and an example, by study, and by data where a study has several.

    An external model is its own grid. Methods get short names, so that one method with two settings has one style.
    """
    out: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        if "method" in row and "example" in row:
            out[row["study"], str(row.get("data", ""))].append({"grid": row["model"], **row})
    studies = [study for study, _ in out]
    return {s if studies.count(s) == 1 else f"{s} on {d}": _short(group) for (s, d), group in out.items()}


def _short(rows: Sequence[Row]) -> list[Row]:
    names = short_names(list(dict.fromkeys(row["method"] for row in rows)))
    return [{**row, "method": names[row["method"]]} for row in rows]
