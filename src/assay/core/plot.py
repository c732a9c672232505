"""Attributions as matplotlib axes, for papers. Red supports the target, blue opposes it."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from assay.core.display import title
from assay.core.heat import AGAINST, FOR, reach, strongest
from assay.core.optional import optional
from assay.core.printable import shortened
from assay.core.types import Attribution

WIDTH = 22  # characters of a unit
PANEL = 3.6  # inches
LUMA = (0.299, 0.587, 0.114)  # how bright red, green and blue look


def plot(attribution: Attribution, ax: Any = None, top: int = 15, method: str | None = None) -> Any:
    """The strongest units of a text as bars, or the heat map of an image, on `ax` or in a new figure."""
    pyplot = optional("matplotlib.pyplot", "plots")
    if ax is None:
        ax = pyplot.subplots(layout="constrained", figsize=(4.6, PANEL))[1]
    image = any(unit.box is not None for unit in attribution.units)
    (_patches if image else _bars)(attribution, ax, top)
    ax.set_title(method or attribution.method.name, fontsize="medium")
    return ax


def plot_all(inputs: Sequence[Mapping[str, Attribution]], top: int = 15) -> Any:
    """A row per input and a column per method."""
    pyplot = optional("matplotlib.pyplot", "plots")
    columns = len(inputs[0]) if inputs else 1
    size = (PANEL * columns, PANEL * max(1, len(inputs)))
    _, axes = pyplot.subplots(max(1, len(inputs)), columns, layout="constrained", figsize=size, squeeze=False)
    for row, of_input in zip(axes, inputs, strict=False):
        for ax, (method, attribution) in zip(row, of_input.items(), strict=True):
            plot(attribution, ax, top, method)
    return axes


def png(of_input: Mapping[str, Attribution], top: int = 15) -> bytes:
    """The methods side by side as a PNG file; safe in any thread, as it keeps no current figure."""
    figure = optional("matplotlib.figure", "plots").Figure(
        layout="constrained", figsize=(PANEL * len(of_input) + 1, PANEL), dpi=150
    )
    for ax, (method, attribution) in zip(
        figure.subplots(1, len(of_input), squeeze=False)[0], of_input.items(), strict=True
    ):
        plot(attribution, ax, top, _plain(method, 40))
    out = io.BytesIO()
    figure.savefig(out, format="png", metadata={"Software": None})
    return out.getvalue()


def value_label(attribution: Attribution) -> str:
    """What the scores measure."""
    scale = str(attribution.target.scale).replace("_", " ")
    if attribution.in_value:
        return f"part of the {scale} of {title(attribution)}"
    return "score, without a unit"


def _bars(attribution: Attribution, ax: Any, top: int) -> None:
    shown = strongest(attribution, top)
    scores = [float(attribution.scores[i]) for i in shown]
    ax.barh(range(len(shown)), scores, color=[_rgb(FOR if score > 0 else AGAINST) for score in scores])
    ax.set_yticks(range(len(shown)), [_plain(attribution.units[i].text) for i in shown])
    ax.invert_yaxis()
    ax.axvline(0, color="#808a95", linewidth=0.8)
    darkest = reach([attribution]) or 1.0  # the axis is no more stretched than the colours are
    ax.set_xlim(-1.05 * darkest if min(scores, default=0) < 0 else 0, 1.05 * darkest)
    left = len(attribution) - len(shown)
    more = f"\n({len(shown)} strongest of {len(attribution)} units)" if left else ""
    ax.set_xlabel(_plain(value_label(attribution), 60) + more)


def _patches(attribution: Attribution, ax: Any, _: int) -> None:
    collections = optional("matplotlib.collections", "plots")
    patches, colors = optional("matplotlib.patches", "plots"), optional("matplotlib.colors", "plots")
    boxes = np.array([unit.box for unit in attribution.units])
    width, height = boxes[:, 2].max(), boxes[:, 3].max()
    if attribution.picture is not None:
        grey = np.asarray(attribution.picture) @ LUMA  # or a red wall looks like support
        ax.imshow(grey, extent=(0, width, height, 0), cmap="gray", vmin=0, vmax=255)
    darkest = reach([attribution]) or 1.0
    colours = colors.LinearSegmentedColormap.from_list(
        "assay", [(*_rgb(AGAINST), 0.75), (1, 1, 1, 0), (*_rgb(FOR), 0.75)]
    )
    squares = [patches.Rectangle((x, y), right - x, bottom - y) for x, y, right, bottom in boxes]
    heat = collections.PatchCollection(squares, cmap=colours, norm=colors.Normalize(-darkest, darkest), linewidth=0)
    heat.set_array(attribution.scores.astype(float))
    ax.add_collection(heat)
    ax.set(xlim=(0, width), ylim=(height, 0), aspect="equal", xticks=[], yticks=[])
    ax.figure.colorbar(heat, ax=ax, label=_plain(value_label(attribution), 60))


def _rgb(colour: tuple[int, ...]) -> tuple[float, ...]:
    return tuple(channel / 255 for channel in colour)


def _plain(text: str, width: int = WIDTH) -> str:
    """Text without formulas: matplotlib reads what stands between dollar signs as one."""
    return shortened(text, width).replace("$", r"\$")
