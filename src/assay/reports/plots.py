"""Plots as inline SVG, sized for a phone; they need no library and load nothing. All text in them is escaped."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from markupsafe import Markup, escape
from numpy.typing import NDArray

from assay.reports.method_style import MethodStyle
from assay.statistics.bootstrap import intervals
from assay.statistics.verdict import Comparison

Values = NDArray[np.float64]
WIDTH, HEIGHT = 360, 232
LEFT, RIGHT, TOP, BOTTOM = 40, 222, 10, 192  # edges of the area with the lines; names stand to its right
LINE = 13  # distance between two names
FEW = 8  # up to this number of points, all are evenly spaced and labelled


# --- interval bars ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Axis:
    """A range of values mapped to 0 to 100 % of the width."""

    low: float
    high: float

    def at(self, value: float) -> float:
        return 2 + 96 * (value - self.low) / (self.high - self.low)


def bar_axis(comparison: Comparison) -> Axis:
    """One axis for all methods of a metric; it has round ends and contains every interval.

    It spans several margins, so that differences too small to matter look small.
    """
    ends = [v for s in comparison.standings for v in (s.low, s.high, s.value) if math.isfinite(v)]
    middle = (min(ends) + max(ends)) / 2
    ends += [middle - 2 * comparison.margin, middle + 2 * comparison.margin]
    ticks = nice_ticks(min(ends), max(ends), count=4)
    return Axis(ticks[0], ticks[-1])


class WithInterval(Protocol):
    """A number of a method with its interval."""

    @property
    def method(self) -> str: ...
    @property
    def value(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...


def interval_bar(standing: WithInterval, style: MethodStyle, axis: Axis, reference: float | None) -> Markup:
    """The interval as a line with the method's marker at the mean, and a dashed line at `reference`."""
    known = math.isfinite(standing.low) and math.isfinite(standing.high)
    low, high = (axis.at(standing.low), axis.at(standing.high)) if known else (0, 0)
    mean = axis.at(standing.value)
    parts = [f'<line class="rail" x1="0" x2="100%" y1="{MID}" y2="{MID}"/>']
    if axis.low <= 0 <= axis.high:
        parts.append(_upright(axis.at(0), "zero"))
    if reference is not None:
        parts.append(_upright(axis.at(reference), "dash"))
    if known:
        parts.append(
            f'<line x1="{low:.1f}%" x2="{high:.1f}%" y1="{MID}" y2="{MID}" stroke="{style.colour}" stroke-width="6" '
            'stroke-linecap="round" stroke-opacity=".38"/>'
        )
    # a path cannot be placed at a percentage, a nested svg can
    parts.append(f'<svg x="{mean:.1f}%" y="{MID}" overflow="visible">{style.marker_svg(0, 0, 4.5)}</svg>')
    text = f"{standing.method}: {standing.value:.4g}" + (f" [{standing.low:.4g}, {standing.high:.4g}]" if known else "")
    return _svg(f'class="bar" height="{2 * MID}"', text, "".join(parts))


MID = 11  # of a bar's height


def _upright(percent: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{percent:.1f}%" x2="{percent:.1f}%" y1="0" y2="100%"/>'


# --- curves ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Plot:
    """Maps values to pixels."""

    xs: Values  # (K,) in pixels
    low: float
    high: float

    def y(self, value: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * (value - self.low) / (self.high - self.low)


def share_curves(
    curves: Mapping[str, Values],  # method -> (N,K)
    shares: Values,  # (K,)
    styles: Mapping[str, MethodStyle],
    banded: Sequence[str],
    title: str,
    verb: str,
) -> Markup:
    """Mean per share of units, one line per method; 95 % bands are drawn for the methods in `banded` only."""
    means = {method: rows.mean(0) for method, rows in curves.items()}
    bands = {m: _band(curves[m]) for m in banded if len(curves[m]) > 1}
    everything = np.concatenate([*means.values(), *(edge for band in bands.values() for edge in band)])
    ticks = nice_ticks(float(everything.min()), float(everything.max()))
    few = len(shares) <= FEW
    places = np.linspace(0, 1, len(shares)) if few else shares
    plot = Plot(LEFT + 8 + (RIGHT - LEFT - 12) * places, ticks[0], ticks[-1])
    parts = [_grid(plot, ticks), _shares(plot, shares if few else np.linspace(0, 1, 6), few, verb)]
    parts += [_area(plot, *bands[m], styles[m]) for m in bands]
    ordered = sorted(means, key=lambda m: not styles[m].control)  # the control lies below
    parts += [_line(plot, means[m], styles[m], few) for m in ordered]
    parts.append(_names(plot, {m: float(row[-1]) for m, row in means.items()}, styles))
    ends = ", ".join(f"{styles[m].short} {row[-1]:.3g}" for m, row in means.items())
    label = f"{title}: mean per share of units {verb}; at the last share {ends}"
    return _svg(f'class="plot" {_view_box(ticks)}', label, "".join(parts))


def labelled_curves(
    rows: Mapping[str, Values],  # method -> (N,K)
    labels: Sequence[str],  # (K,) below the points
    styles: Mapping[str, MethodStyle],
    title: str,
    axis_label: str,
) -> Markup:
    """Mean at each of a few labelled places, one line with a 95 % band per method."""
    means, bands = {m: row.mean(0) for m, row in rows.items()}, {m: _band(r) for m, r in rows.items() if len(r) > 1}
    return banded_curves(means, bands, labels, styles, title, axis_label)


def banded_curves(
    means: Mapping[str, Values],  # method -> (K,)
    bands: Mapping[str, tuple[Values, Values]],  # method -> low, high; (K,) each
    labels: Sequence[str],  # (K,) below the points
    styles: Mapping[str, MethodStyle],
    title: str,
    axis_label: str,
) -> Markup:
    """One line with a band per method, from given means and bands."""
    everything = np.concatenate([*means.values(), *(edge for band in bands.values() for edge in band)])
    ticks = nice_ticks(float(everything.min()), float(everything.max()))
    plot = Plot(LEFT + 8 + (RIGHT - LEFT - 12) * np.linspace(0, 1, len(labels)), ticks[0], ticks[-1])
    every = _label_step(labels)
    marks = "".join(
        f'<text x="{x:.1f}" y="{BOTTOM + 15}" text-anchor="middle">{escape(label)}</text>'
        for i, (x, label) in enumerate(zip(plot.xs, labels, strict=True))
        if i % every == 0
    )
    below = f'<text x="{(LEFT + RIGHT) / 2:.0f}" y="{BOTTOM + 32}" text-anchor="middle">{escape(axis_label)}</text>'
    parts = [_grid(plot, ticks), marks, below, *(_area(plot, *band, styles[m]) for m, band in bands.items())]
    parts += [_line(plot, row, styles[m], len(labels) <= 16) for m, row in means.items()]
    parts.append(_names(plot, {m: float(row[-1]) for m, row in means.items()}, styles))
    ends = ", ".join(f"{styles[m].short} {row[-1]:.3g}" for m, row in means.items())
    label = f"{title}: mean at {labels[0]} to {labels[-1]}; at the last {ends}"
    return _svg(f'class="plot" {_view_box(ticks)}', label, "".join(parts))


def _view_box(ticks: Sequence[float]) -> str:
    """The whole drawing, wider on the left where the numbers of the axis need it."""
    missing = max(0, math.ceil(6.5 * max(len(f"{tick:g}") for tick in ticks)) + 5 - LEFT)
    return f'viewBox="{-missing} 0 {WIDTH + missing} {HEIGHT}"'


def _label_step(labels: Sequence[str]) -> int:
    """Label every how many points, so that labels do not overlap; the first has free space to its left."""
    wanted = 4 + 6.5 * max((len(label) for label in labels[1:]), default=0)  # pixels at a font size of 11
    return max(1, math.ceil(wanted * (len(labels) - 1) / (RIGHT - LEFT - 12)))


def nice_ticks(low: float, high: float, count: int = 5) -> list[float]:
    """About `count` evenly spaced round numbers that enclose a range."""
    if not high > low:
        low, high = low - 0.5, high + 0.5
    rough = (high - low) / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(s * power for s in (1, 2, 2.5, 5, 10) if s * power >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]


def _band(rows: Values) -> tuple[Values, Values]:
    bounds = intervals(rows.T, kind="percentile", resamples=2000)
    return np.array([b.low for b in bounds]), np.array([b.high for b in bounds])


def _grid(plot: Plot, ticks: Sequence[float]) -> str:
    out = []
    for tick in ticks:
        kind = "axis" if tick == 0 else "grid"
        out.append(f'<line class="{kind}" x1="{LEFT}" x2="{RIGHT}" y1="{plot.y(tick):.1f}" y2="{plot.y(tick):.1f}"/>')
        out.append(f'<text x="{LEFT - 5}" y="{plot.y(tick) + 3.5:.1f}" text-anchor="end">{tick:g}</text>')
    return "".join(out)


def _shares(plot: Plot, shares: Values, few: bool, verb: str) -> str:
    xs = plot.xs if few else plot.xs[0] + (plot.xs[-1] - plot.xs[0]) * shares
    marks = "".join(
        f'<text x="{x:.1f}" y="{BOTTOM + 15}" text-anchor="middle">{100 * share:.3g}</text>'
        for x, share in zip(xs, shares, strict=True)
    )
    middle = (LEFT + RIGHT) / 2
    words = f'<text x="{middle:.0f}" y="{BOTTOM + 32}" text-anchor="middle">% of top units {verb}</text>'
    return marks + words


def _area(plot: Plot, low: Values, high: Values, style: MethodStyle) -> str:
    there = [f"{x:.1f},{plot.y(v):.1f}" for x, v in zip(plot.xs, high, strict=True)]
    back = [f"{x:.1f},{plot.y(v):.1f}" for x, v in zip(plot.xs[::-1], low[::-1], strict=True)]
    return f'<polygon points="{" ".join(there + back)}" fill="{style.colour}" fill-opacity=".16"/>'


def _line(plot: Plot, row: Values, style: MethodStyle, few: bool) -> str:
    points = [(float(x), plot.y(float(v))) for x, v in zip(plot.xs, row, strict=True)]
    dash = ' stroke-dasharray="5 4"' if style.control else ""
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    line = f'<polyline points="{path}" fill="none" stroke="{style.colour}" stroke-width="1.8"{dash}/>'
    marked = points if few else [points[-1]]
    return f"<g><title>{escape(style.method)}</title>{line}{''.join(style.marker_svg(x, y, 3) for x, y in marked)}</g>"


def _names(plot: Plot, ends: Mapping[str, float], styles: Mapping[str, MethodStyle]) -> str:
    """Names at the ends of the lines, moved apart where they would overlap and connected to their lines."""
    order = sorted(ends, key=lambda m: plot.y(ends[m]))
    positions = spread([plot.y(ends[m]) for m in order], LINE, TOP, HEIGHT - 6)
    out = []
    for method, y in zip(order, positions, strict=True):
        style = styles[method]
        connector = f"M{plot.xs[-1] + 6:.1f} {plot.y(ends[method]):.1f}L{RIGHT + 12} {y:.1f}"
        out.append(f'<path d="{connector}" fill="none" stroke="{style.colour}" stroke-opacity=".6"/>')
        out.append(f'<text class="series" x="{RIGHT + 16}" y="{y + 3.8:.1f}">{escape(_cut(style.short))}</text>')
    return "".join(out)


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Positions in the same order, at least `gap` apart and within the range; groups are centred."""
    gap = min(gap, (high - low) / max(1, len(wanted) - 1))
    crowds: list[tuple[float, int]] = []  # middle, size
    for place in wanted:
        middle, count = place, 1
        while crowds and crowds[-1][0] + gap * (crowds[-1][1] + count) / 2 > middle:
            other, more = crowds.pop()
            middle, count = (middle * count + other * more) / (count + more), count + more
            middle = min(max(middle, low + gap * (count - 1) / 2), high - gap * (count - 1) / 2)
        crowds.append((min(max(middle, low), high - gap * (count - 1) / 2), count))
    return [middle + gap * (i - (count - 1) / 2) for middle, count in crowds for i in range(count)]


def _cut(name: str, most: int = 21) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"


def _svg(attributes: str, label: str, inside: str) -> Markup:
    """The whole drawing; `attributes` and `inside` are markup already."""
    text = escape(label)
    return Markup(f'<svg {attributes} role="img" aria-label="{text}"><title>{text}</title>{inside}</svg>')
