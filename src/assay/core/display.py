"""An Attribution as coloured terminal text. Red supports the target, blue opposes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from rich.text import Text

from assay.core.console import Console

if TYPE_CHECKING:
    from assay.core.types import Attribution, Unit


def terminal(attribution: Attribution, *, color: bool | None = None) -> str:
    """Text for a terminal. color: None uses colours if standard output is a terminal."""
    system: Literal["auto", "truecolor"] | None = {None: "auto", True: "truecolor", False: None}[color]
    console = Console(force_terminal=color, color_system=system)
    with console.capture() as capture:
        console.print(rich_text(attribution), soft_wrap=True)
    return capture.get().rstrip("\n")


def rich_text(attribution: Attribution, method: str | None = None) -> Text:
    """Label and method (its name, or `method` if given), then the text with a coloured background per unit."""
    out = Text()
    out.append(attribution.label, style="bold")
    out.append(f" {details(attribution, method)}\n", style="dim")
    if any(unit.box is not None for unit in attribution.units):
        return out.append_text(_top_patches(attribution))
    for gap, unit, strength in pieces(attribution):
        out.append(gap)
        if not unit.seen:
            out.append(unit.text, style="dim strike")
        else:
            out.append(unit.text, style=f"{_text_colour(strength)} on {_hex(strength)}" if strength else "")
    return out


def strengths(scores: np.ndarray[tuple[int], np.dtype[np.float32]]) -> list[float]:
    """Scores divided by the largest absolute score: -1 to 1."""
    top = float(np.abs(scores).max(initial=0.0))
    return [float(s) / top if top > 0 else 0.0 for s in scores]


def details(attribution: Attribution, method: str | None = None) -> str:
    """The explained value, the method, and the words and numbers among its extras."""
    value = [] if attribution.value_full is None else [f"{attribution.target.scale} {attribution.value_full:.3f}"]
    extras = [
        f"{key} {_format(extra)}".replace("_", " ")
        for key, extra in attribution.extra.items()
        if isinstance(extra, str | int | float)
    ]
    return " · ".join([*value, method or attribution.method.name, *extras])


def _format(extra: str | float) -> str:
    if isinstance(extra, bool):
        return "yes" if extra else "no"
    return extra if isinstance(extra, str) else f"{extra:.3g}"


def pieces(attribution: Attribution) -> list[tuple[str, Unit, float]]:
    """Units in reading order, each with the gap before it and its strength."""
    ranked = sorted(
        zip(attribution.units, strengths(attribution.scores), strict=True), key=lambda p: (p[0].segment, p[0].start)
    )
    out: list[tuple[str, Unit, float]] = []
    segment, end = 0, None
    for unit, strength in ranked:
        gap = "" if end is None or (unit.segment == segment and unit.start <= end) else " "
        out.append((gap if unit.segment == segment or end is None else " ‖ ", unit, strength))
        segment, end = unit.segment, unit.end
    return out


def _top_patches(attribution: Attribution) -> Text:
    lines = [f"{text} {score:+.4g}" for text, score in attribution.top(5)]
    return Text("  ".join(lines))


def _hex(strength: float) -> str:
    """The colour of a strength on white, opaque."""
    base, alpha = ((214, 48, 49) if strength > 0 else (37, 99, 235)), min(1.0, abs(strength)) * 0.85
    return "#" + "".join(f"{round(255 - alpha * (255 - channel)):02x}" for channel in base)


def _text_colour(strength: float) -> str:
    return "white" if abs(strength) > 0.6 else "black"
