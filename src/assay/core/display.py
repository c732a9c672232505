"""Attributions as HTML and as coloured terminal text: red supports the target, blue opposes it."""

from __future__ import annotations

import html
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from rich.console import Console
from rich.text import Text

if TYPE_CHECKING:
    from assay.core.types import Attribution, Unit

STYLE = """
body{font:16px/1.7 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;color:#1a1a1a;background:#fff}
.assay{margin:0 0 1.4rem}.assay .head{font-size:.85rem;color:#555;margin-bottom:.2rem}
.assay .text{line-height:2}.assay .u{padding:.12em .08em;border-radius:.2em}.assay .unseen{color:#999}
section{border-top:1px solid #ddd;padding-top:1rem}
.assay .seg{color:#888;font-size:.8rem;margin:0 .5em}.assay svg{max-width:18rem;height:auto}
"""


def fragment(attribution: Attribution) -> str:
    """The attribution as an HTML fragment with inline styles, for notebooks and pages."""
    boxed = any(unit.box is not None for unit in attribution.units)
    body = patches(attribution) if boxed else _text(attribution)
    head = f"<b>{html.escape(attribution.label)}</b> {html.escape(_numbers(attribution))}"
    spec = html.escape(str(attribution.method))
    return f'<div class="assay"><div class="head" title="{spec}">{head}</div><div class="text">{body}</div></div>'


def page(attributions: Sequence[Attribution], title: str = "Assay: explanations") -> str:
    """A self-contained HTML page."""
    inputs = [list(group) for _, group in groupby(attributions, key=lambda a: a.example_id)]
    blocks = "\n".join(f"<section>{''.join(fragment(a) for a in group)}</section>" for group in inputs)
    note = '<p class="head">Red units support the named class, blue units oppose it; darker means more.</p>'
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{STYLE}</style></head>"
        f"<body><h1>{html.escape(title)}</h1>{note}{blocks}</body></html>"
    )


def write(text: str, path: str | None) -> str:
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
    return text


def terminal(attribution: Attribution, *, color: bool | None = None) -> str:
    """Text for a terminal. `color` None: coloured if standard output is a terminal."""
    system: Literal["auto", "truecolor"] | None = {None: "auto", True: "truecolor", False: None}[color]
    console = Console(force_terminal=color, color_system=system, highlight=False)
    with console.capture() as capture:
        console.print(rich_text(attribution), soft_wrap=True)
    return capture.get().rstrip("\n")


def rich_text(attribution: Attribution, method: str | None = None) -> Text:
    """The label and the method (`method` overrides its name), then the text with a coloured background per unit."""
    out = Text()
    out.append(attribution.label, style="bold")
    out.append(f" {_numbers(attribution, method)}\n", style="dim")
    if any(unit.box is not None for unit in attribution.units):
        return out.append_text(_top_patches(attribution))
    for gap, unit, strength in pieces(attribution):
        out.append(gap)
        if not unit.seen:
            out.append(unit.text, style="dim strike")
        else:
            out.append(unit.text, style=f"{_ink(strength)} on {_hex(strength)}" if strength else "")
    return out


def strengths(scores: np.ndarray[tuple[int], np.dtype[np.float32]]) -> list[float]:
    """Scores divided by the largest absolute score: -1 .. 1."""
    top = float(np.abs(scores).max(initial=0.0))
    return [float(s) / top if top > 0 else 0.0 for s in scores]


def _numbers(attribution: Attribution, method: str | None = None) -> str:
    """The value, the method, and the words and numbers that the method reports in `extra`."""
    value = [] if attribution.value_full is None else [f"{attribution.target.scale} {attribution.value_full:.3f}"]
    words = [f"{key} {_short(v)}" for key, v in attribution.extra.items() if isinstance(v, str | int | float)]
    return " · ".join([*value, method or attribution.method.name, *(word.replace("_", " ") for word in words)])


def _short(value: str | float) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else f"{value:.3g}"


def pieces(attribution: Attribution) -> list[tuple[str, Unit, float]]:
    """(gap before it, unit, strength) of each unit, in reading order."""
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


def _text(attribution: Attribution) -> str:
    out = []
    for (gap, unit, strength), score in zip(pieces(attribution), _ordered_scores(attribution), strict=True):
        style = f"background:{_rgba(strength)}" if unit.seen else "color:#999;text-decoration:line-through"
        out.append(
            f'{html.escape(gap)}<span class="u" style="{style}" title="{score:+.4g}">{html.escape(unit.text)}</span>'
        )
    return "".join(out)


def _ordered_scores(attribution: Attribution) -> list[float]:
    order = sorted(range(len(attribution)), key=lambda i: (attribution.units[i].segment, attribution.units[i].start))
    return [float(attribution.scores[i]) for i in order]


def patches(attribution: Attribution, below: str = "") -> str:
    """Patches as squares of an SVG, on top of `below`, such as the image."""
    boxes = [unit.box for unit in attribution.units if unit.box is not None]
    width, height = max(b[2] for b in boxes), max(b[3] for b in boxes)
    squares = "".join(
        f'<rect x="{b[0]}" y="{b[1]}" width="{b[2] - b[0]}" height="{b[3] - b[1]}" fill="{_rgba(s)}">'
        f"<title>{float(score):+.4g}</title></rect>"
        for b, s, score in zip(boxes, strengths(attribution.scores), attribution.scores, strict=True)
    )
    return f'<svg class="picture" viewBox="0 0 {width} {height}">{below}{squares}</svg>'


def _top_patches(attribution: Attribution) -> Text:
    lines = [f"{text} {score:+.4g}" for text, score in attribution.top(5)]
    return Text("  ".join(lines))


def _rgba(strength: float) -> str:
    base = "214,48,49" if strength > 0 else "37,99,235"
    return f"rgba({base},{min(1.0, abs(strength)) * 0.75:.3f})"


def _hex(strength: float) -> str:
    """The colour of `_rgba` on white, opaque, for terminals."""
    base, alpha = ((214, 48, 49) if strength > 0 else (37, 99, 235)), min(1.0, abs(strength)) * 0.85
    return "#" + "".join(f"{round(255 - alpha * (255 - channel)):02x}" for channel in base)


def _ink(strength: float) -> str:
    return "white" if abs(strength) > 0.6 else "black"
