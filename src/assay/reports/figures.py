"""Figures of a study of many models: lines over size, bars over architectures, curves over randomised blocks.

Dark bands and error bars are 95 % intervals over examples; light bands with thin edges and dots show the trainings.
Needs the extra `plots`. pyplot's global state is not used, so no display is needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from assay.core.errors import AssayError
from assay.core.files import replacing, unwritable
from assay.reports.aggregate import Point
from assay.reports.legend import DARK, EDGE, LIGHT, MARKS, legend
from assay.reports.method_style import MethodStyle, method_styles

DPI = 144  # twice the resolution of a page
PANEL = (4.6, 3.3)  # inches
CROWD = 50  # bars per panel if two panels stand side by side
ASIDE = 0.006  # share of an axis by which lines are shifted, or methods that agree would hide each other


@dataclass(frozen=True)
class Panel:
    """One pair of axes: title, y label, and the points by (place, method), where place is the x value."""

    title: str
    label: str
    points: Mapping[tuple[Any, str], Point]
    dotted: Mapping[tuple[Any, str], Point] = field(default_factory=dict)  # the same methods under another setting
    limits: tuple[float, float] | None = None

    @property
    def methods(self) -> list[str]:
        return list(dict.fromkeys(method for _, method in [*self.points, *self.dotted]))

    @property
    def places(self) -> set[Any]:
        return {place for place, _ in [*self.points, *self.dotted]}


def lines(
    panels: Sequence[Panel],
    parameters: Mapping[str, float],
    path: str | Path,
    *,
    note: str = "",
    order: Sequence[str] = (),
) -> Path:
    """One line per method over the number of parameters, with bands over examples and over trainings.

    note: what dotted lines mean. order: all methods of a set of figures, so that each has one style in all of them.
    """
    with _drawn(panels, path, 3 if len(panels) == 3 else 2, order, note=note) as (axes, styles):
        for axis, panel in zip(axes, panels, strict=True):
            ticks = sorted(count for name, count in parameters.items() if name in panel.places)
            wide = (ticks[-1] / ticks[0]) ** ASIDE if ticks else 1.0  # a factor: the axis is logarithmic
            for dotted, group in ((False, panel.points), (True, panel.dotted)):
                for method, away in _aside(panel.methods):
                    at = sorted((parameters[x], p) for (x, m), p in group.items() if m == method and x in parameters)
                    _line(axis, [x * wide**away for x, _ in at], [p for _, p in at], styles[method], dotted=dotted)
            axis.set_xscale("log")
            axis.set_xticks(ticks, [millions(t) for t in ticks])
            axis.minorticks_off()
            axis.set_xlabel("parameters")
    return Path(path)


def bars(panels: Sequence[Panel], names: Mapping[str, str], path: str | Path, *, order: Sequence[str] = ()) -> Path:
    """Bars grouped by model, one per method; error bars over examples, a dot per training."""
    crowded = max((len(p.places) * len(p.methods) for p in panels), default=0) > CROWD
    with _drawn(panels, path, 1 if crowded else 2, order, bars=True, width=2.2 if crowded else 1.35) as (axes, styles):
        for axis, panel in zip(axes, panels, strict=True):
            here = [x for x in names if any(x == place for place, _ in panel.points)]
            methods = [method for method in styles if method in panel.methods]  # in the order of the legend
            width = 0.84 / max(1, len(methods))
            for i, method in enumerate(methods):
                at = [(k, panel.points[x, method]) for k, x in enumerate(here) if (x, method) in panel.points]
                _bars(axis, [k - 0.42 + (i + 0.5) * width for k, _ in at], [p for _, p in at], styles[method], width)
            _name_groups(axis, [names[x] for x in here], room=96 if crowded else 58)
            axis.grid(visible=False, axis="x")
    return Path(path)


def curves(panels: Sequence[Panel], path: str | Path, *, note: str = "", order: Sequence[str] = ()) -> Path:
    """Spearman's correlation after re-initialising blocks: "Full" (1 by definition), then from last to first."""
    full = Point(1.0, 1.0, 1.0, (1.0,), 0)
    with _drawn(panels, path, 2, order, note=note) as (axes, styles):
        for axis, panel in zip(axes, panels, strict=True):
            blocks = sorted(panel.places, reverse=True)
            for dotted, group in ((False, panel.points), (True, panel.dotted)):
                for method, away in _aside(panel.methods):
                    at = [(i + 1, group[b, method]) for i, b in enumerate(blocks) if (b, method) in group]
                    moved = [i + away * ASIDE * len(blocks) for i, _ in at]
                    if at:
                        _line(axis, [0, *moved], [full, *(p for _, p in at)], styles[method], dotted=dotted)
            every = -(-len(blocks) // 12)  # there is room for 12 labels
            ticks = [0, *range(1, len(blocks) + 1, every)]
            axis.set_xticks(ticks, ["Full", *(str(blocks[t - 1] + 1) for t in ticks[1:])])
            axis.axhline(0, color="#808a95", linewidth=0.8, zorder=0)
            axis.set_xlabel("randomised block")
    return Path(path)


def over(panels: Sequence[Panel], path: str | Path, label: str, *, note: str = "", order: Sequence[str] = ()) -> Path:
    """One line per method over a number, the place of each point. label: of the x axis."""
    with _drawn(panels, path, 2, order, note=note) as (axes, styles):
        for axis, panel in zip(axes, panels, strict=True):
            for dotted, group in ((False, panel.points), (True, panel.dotted)):
                for method in panel.methods:
                    at = sorted(((x, p) for (x, m), p in group.items() if m == method), key=lambda pair: pair[0])
                    _line(axis, [x for x, _ in at], [p for _, p in at], styles[method], dotted=dotted)
            axis.set_xlabel(label)
    return Path(path)


def _aside(methods: Sequence[str]) -> list[tuple[str, float]]:
    """Each method with its place around the middle: ..., -1, 0, 1, ..."""
    return [(method, i - (len(methods) - 1) / 2) for i, method in enumerate(methods)]


def _name_groups(axis: Any, names: Sequence[str], room: int) -> None:
    """Label the groups of bars, slanted if the names are too long for their room (in characters)."""
    slant = {"rotation": 20, "ha": "right", "rotation_mode": "anchor"} if len("  ".join(names)) > room else {}
    axis.set_xticks(range(len(names)), names, **slant)


def millions(count: float) -> str:
    return f"{count / 1e6:.2g}M" if count < 1e8 else f"{count / 1e6:.0f}M"


def _line(axis: Any, xs: Sequence[float], at: Sequence[Point], style: MethodStyle, *, dotted: bool = False) -> None:
    if not at:
        return
    line_style = ":" if dotted else "--" if style.control else "-"
    fill = "white" if style.marker == "ring" else style.colour
    axis.plot(xs, [p.value for p in at], line_style, color=style.colour, marker=MARKS[style.marker], markersize=4.5,
              markerfacecolor=fill, linewidth=1.6)  # fmt: skip
    if dotted:  # its bands would hide the others
        return
    axis.fill_between(xs, [p.low for p in at], [p.high for p in at], color=style.colour, alpha=DARK, linewidth=0)
    if any(len(p.runs) > 1 for p in at):
        spread = np.array([p.spread for p in at]).T  # (2,K)
        axis.fill_between(xs, *spread, color=style.colour, alpha=LIGHT, linewidth=0)
        axis.plot(xs, spread.T, color=style.colour, linewidth=EDGE)


def _bars(axis: Any, xs: Sequence[float], at: Sequence[Point], style: MethodStyle, width: float) -> None:
    if not at:
        return
    heights = np.array([p.value for p in at])
    reach = np.array([[p.value - p.low for p in at], [p.high - p.value for p in at]]).clip(0)  # (2,K)
    axis.bar(xs, heights, width * 0.94, color=style.colour, alpha=0.85, linewidth=0)
    axis.errorbar(xs, heights, np.nan_to_num(reach), fmt="none", ecolor="black", elinewidth=1, capsize=1.5)
    dots = [(x, run) for x, p in zip(xs, at, strict=True) for run in (p.runs if len(p.runs) > 1 else ())]
    if dots:
        axis.scatter(*zip(*dots, strict=True), s=7, facecolor="white", edgecolor="black", linewidth=0.6, zorder=3)


@contextmanager
def _drawn(
    panels: Sequence[Panel],
    path: str | Path,
    most: int,
    order: Sequence[str],
    *,
    note: str = "",
    bars: bool = False,
    width: float = 1.0,
) -> Iterator[tuple[list[Any], dict[str, MethodStyle]]]:
    """Axes in rows of at most `most` with one legend below; the figure is saved when the block ends."""
    figure_class, seaborn = _libraries()
    methods = list(dict.fromkeys(method for panel in panels for method in panel.methods))
    known = [*order, *(m for m in methods if m not in order)]
    styles = method_styles(known, next((m for m in known if m.partition("(")[0] == "random"), None))
    styles = {method: style for method, style in styles.items() if method in methods}
    columns = min(len(panels), most)
    down = -(-len(panels) // columns)
    from matplotlib import rc_context

    style = {**seaborn.axes_style("whitegrid"), "font.size": 10, "axes.titlesize": 11, "svg.hashsalt": "assay"}
    with rc_context(style):
        figure = figure_class(figsize=(PANEL[0] * width * columns, PANEL[1] * down + 0.8), layout="constrained")
        grid = np.atleast_1d(figure.subplots(down, columns, squeeze=False)).ravel()
        for axis in grid[len(panels) :]:
            axis.remove()
        yield list(grid[: len(panels)]), styles
        for axis, panel in zip(grid, panels, strict=False):
            axis.set(title=panel.title, ylabel=panel.label)
            if panel.limits:
                axis.set_ylim(*panel.limits)
        shown = [point for panel in panels for point in (*panel.points.values(), *panel.dotted.values())]
        legend(figure, styles, shown, bars=bars, note=note if any(panel.dotted for panel in panels) else "")
        _save(figure, Path(path))


def _save(figure: Any, path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as out:
            metadata = {"Date": None} if path.suffix == ".svg" else {"Software": None}
            figure.savefig(out, format=path.suffix[1:], dpi=DPI, metadata=metadata)
    except OSError as error:
        raise unwritable(path, error) from error


def _libraries() -> tuple[Any, Any]:
    """The figure class and seaborn, imported on first use."""
    try:
        import seaborn
        from matplotlib.figure import Figure
    except ImportError as error:
        raise AssayError(
            "figures need matplotlib and seaborn; install them with: pip install 'assay[plots]'"
        ) from error
    return Figure, seaborn


def available() -> bool:
    """Whether the extra `plots` is installed."""
    try:
        _libraries()
    except AssayError:
        return False
    return True
