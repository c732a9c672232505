"""An Attribution as HTML, for notebooks and as a page. Red supports the target, blue opposes it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from assay.core.display import details, pieces, strengths
from assay.core.render import render, write_page

if TYPE_CHECKING:
    from assay.core.types import Attribution

TITLE = "Explanations"


@dataclass(frozen=True)
class Square:
    """One patch of an image."""

    x: int
    y: int
    width: int
    height: int
    colour: str
    title: str


@dataclass(frozen=True)
class PatchMap:
    """The patches of an image with their scores."""

    width: int
    height: int
    squares: tuple[Square, ...]


@dataclass(frozen=True)
class ColouredUnit:
    """One unit of a text with the gap before it."""

    gap: str
    text: str
    css: str
    title: str


@dataclass(frozen=True)
class Explanation:
    """The values of core/attribution.html.jinja."""

    label: str
    details: str
    spec: str
    units: tuple[ColouredUnit, ...]
    patches: PatchMap | None


def fragment(attributions: Iterable[Attribution]) -> str:
    """The attributions as a piece of HTML with inline styles only, for notebooks."""
    return "".join(render("core/attribution.html.jinja", explanation=_explanation(a)) for a in attributions)


def to_html(attributions: Sequence[Attribution], path: str | None = None) -> str:
    """A self-contained page, written to `path` if one is given; attributions of one input stand together."""
    inputs = [[_explanation(a) for a in group] for _, group in groupby(attributions, key=lambda a: a.example_id)]
    html = render("core/explanations.html.jinja", title=TITLE, inputs=inputs)
    if path is not None:
        write_page(html, path)
    return html


def patch_map(attribution: Attribution) -> PatchMap | None:
    """The patches of an attribution of an image; None for a text."""
    boxes = [unit.box for unit in attribution.units if unit.box is not None]
    if not boxes:
        return None
    squares = tuple(
        Square(left, top, right - left, bottom - top, _rgba(strength), f"{float(score):+.4g}")
        for (left, top, right, bottom), strength, score in zip(
            boxes, strengths(attribution.scores), attribution.scores, strict=True
        )
    )
    return PatchMap(max(box[2] for box in boxes), max(box[3] for box in boxes), squares)


def _explanation(attribution: Attribution) -> Explanation:
    patches = patch_map(attribution)
    units = () if patches else tuple(_coloured_units(attribution))
    return Explanation(attribution.label, details(attribution), str(attribution.method), units, patches)


def _coloured_units(attribution: Attribution) -> Iterable[ColouredUnit]:
    scores = dict(zip(attribution.units, attribution.scores, strict=True))
    for gap, unit, strength in pieces(attribution):
        css = f"background:{_rgba(strength)}" if unit.seen else "color:#999;text-decoration:line-through"
        yield ColouredUnit(gap, unit.text, css, f"{float(scores[unit]):+.4g}")


def _rgba(strength: float) -> str:
    base = "214,48,49" if strength > 0 else "37,99,235"
    return f"rgba({base},{min(1.0, abs(strength)) * 0.75:.3f})"
