"""Weights of attention heads as a map, layers down and heads across: as SVG, and with matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.core.optional import optional

CELL, LEFT, TOP = 22, 58, 30
DARK = (0, 88, 36)  # the darkest green of matplotlib's Greens
GREY = "#566069"


def head_map_svg(grid: NDArray[np.float64]) -> str:
    """A picture that needs no library; negative weights, which only normaliser=none has, are red."""
    layers, heads = grid.shape
    darkest = float(np.abs(grid).max()) or 1.0
    cells = [_cell(layer, head, float(grid[layer, head]), darkest) for layer in range(layers) for head in range(heads)]
    rows = [_text(LEFT - 6, TOP + CELL * (i + 0.65), f"{i}", "end") for i in range(layers)]
    columns = [_text(LEFT + CELL * (i + 0.5), TOP - 6, f"{i}", "middle") for i in range(heads)]
    names = [_text(4, TOP - 6, "layer"), _text(LEFT, 12, f"head; darkest = {darkest:.3g}")]
    size = f"{LEFT + CELL * max(heads, 6) + 10} {TOP + CELL * layers + 8}"
    inside = "".join([*cells, *rows, *columns, *names])
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" font-family="sans-serif">{inside}</svg>\n'


def _cell(layer: int, head: int, weight: float, darkest: float) -> str:
    strength = abs(weight) / darkest
    goal = DARK if weight >= 0 else (165, 15, 21)
    colour = ",".join(str(round(255 + strength * (c - 255))) for c in goal)
    x, y = LEFT + CELL * head, TOP + CELL * layer
    place = f'x="{x}" y="{y}" width="{CELL - 1}" height="{CELL - 1}"'
    return f'<rect {place} fill="rgb({colour})" stroke="#ddd"><title>{layer}, {head}: {weight:.4f}</title></rect>'


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:g}" y="{y:g}" font-size="11" fill="{GREY}" text-anchor="{anchor}">{text}</text>'


def plot_heads(grid: NDArray[np.float64], ax: Any = None) -> Any:
    """The map on matplotlib axes (extra `plots`)."""
    pyplot = optional("matplotlib.pyplot", "plots")
    if ax is None:
        ax = pyplot.subplots(layout="constrained")[1]
    picture = ax.imshow(grid, cmap="Greens", vmin=min(0.0, float(grid.min())))
    ax.set(xlabel="head", ylabel="layer", xticks=range(grid.shape[1]), yticks=range(grid.shape[0]))
    ax.figure.colorbar(picture, ax=ax, label="weight")
    return ax
