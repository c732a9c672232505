"""The style of a method: one colour, marker and short name in every plot and table of a page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

COLOURS = (
    "#0f7fc0", "#d5601b", "#12936d", "#c2589a", "#b98300", "#7a62c9", "#4a9dd6", "#a4573a", "#6d8b1f", "#2c2f7a",
)  # fmt: skip
CONTROL = "#808a95"
MARKERS = ("circle", "square", "up", "diamond", "down", "plus", "cross", "ring")


@dataclass(frozen=True)
class MethodStyle:
    """Colour, marker and short name of a method; colour and marker together distinguish it from all others."""

    method: str
    short: str
    colour: str
    marker: str
    control: bool = False

    def marker_svg(self, x: float, y: float, r: float = 4) -> Markup:
        """The marker as an SVG element around (x, y)."""
        return Markup(_marker(self.marker, self.colour, x, y, r))


def method_styles(methods: Sequence[str], control: str | None) -> dict[str, MethodStyle]:
    """One style per method, in the order given; the control is grey."""
    names, out, i = short_names(methods), {}, 0
    for method in methods:
        if method == control:
            out[method] = MethodStyle(method, names[method], CONTROL, "circle", control=True)
            continue
        out[method] = MethodStyle(
            method, names[method], COLOURS[i % len(COLOURS)], MARKERS[(i + i // len(COLOURS)) % len(MARKERS)]
        )
        i += 1
    return out


def short_names(methods: Sequence[str]) -> Mapping[str, str]:
    """Names without parameters, unless two methods would get the same name."""
    bare = [re.split(r"\(", method, maxsplit=1)[0] for method in methods]
    return {m: b if bare.count(b) == 1 else m for m, b in zip(methods, bare, strict=True)}


def _marker(marker: str, colour: str, x: float, y: float, r: float) -> str:
    s = r * 0.9
    if marker in ("circle", "ring"):
        fill = colour if marker == "circle" else "var(--paper)"
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{s:.1f}" fill="{fill}" stroke="{colour}" stroke-width="1.5"/>'
    paths = {
        "square": f"M{x - s:.1f} {y - s:.1f}h{2 * s:.1f}v{2 * s:.1f}h{-2 * s:.1f}z",
        "up": f"M{x:.1f} {y - r:.1f}l{r:.1f} {1.8 * r:.1f}h{-2 * r:.1f}z",
        "down": f"M{x:.1f} {y + r:.1f}l{r:.1f} {-1.8 * r:.1f}h{-2 * r:.1f}z",
        "diamond": f"M{x:.1f} {y - 1.2 * r:.1f}l{r:.1f} {1.2 * r:.1f}l{-r:.1f} {1.2 * r:.1f}l{-r:.1f} {-1.2 * r:.1f}z",
        "plus": f"M{x - r:.1f} {y:.1f}h{2 * r:.1f}M{x:.1f} {y - r:.1f}v{2 * r:.1f}",
        "cross": f"M{x - s:.1f} {y - s:.1f}l{2 * s:.1f} {2 * s:.1f}m0 {-2 * s:.1f}l{-2 * s:.1f} {2 * s:.1f}",
    }
    line = marker in ("plus", "cross")
    paint = f'fill="none" stroke="{colour}" stroke-width="2.2"' if line else f'fill="{colour}"'
    return f'<path d="{paths[marker]}" {paint}/>'
