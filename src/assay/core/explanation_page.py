"""Attributions as HTML, for notebooks and as a page. Red supports the target, blue opposes it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from assay.core.display import details, title
from assay.core.heat import AGAINST, FOR, by_segment, reach, strengths
from assay.core.png import png_address
from assay.core.render import render, write_page

if TYPE_CHECKING:
    from assay.core.types import Attribution

TITLE = "Explanations"
SHOWN = 10  # inputs that a notebook draws; a page has them all
ALPHA = 0.75  # of the darkest colour


@dataclass(frozen=True)
class Square:
    """One patch of an image."""

    x: int
    y: int
    width: int
    height: int
    colour: str
    title: str
    marked: bool = False  # by a rationale


@dataclass(frozen=True)
class PatchMap:
    """The patches of an image with their scores."""

    width: int
    height: int
    squares: tuple[Square, ...]


@dataclass(frozen=True)
class Picture:
    """An image on a page; without an address, a reference to the one with the same id."""

    id: str
    address: str | None

    @property
    def reference(self) -> Picture:
        return replace(self, address=None)


@dataclass(frozen=True)
class ColouredUnit:
    """One unit of a text with the gap before it."""

    gap: str
    text: str
    css: str
    title: str


@dataclass(frozen=True)
class Segment:
    """One text of the input; without units, one that was not scored."""

    units: tuple[ColouredUnit, ...]
    rest: str  # after the last unit, or the whole text if it was not scored


@dataclass(frozen=True)
class Legend:
    """The colours of the scores: from `low` to `high`, with the largest score in the darkest colour."""

    low: str
    high: str
    gradient: str


@dataclass(frozen=True)
class Explanation:
    """The values of core/attribution.html.jinja."""

    title: str
    details: str
    spec: str
    segments: tuple[Segment, ...]
    patches: PatchMap | None
    picture: Picture | None
    legend: Legend


def fragment(inputs: Sequence[Sequence[Attribution]], methods: Sequence[str] | None = None) -> str:
    """Attributions, a row per input, as a piece of HTML with inline styles only, for notebooks."""
    rows = _explanations(inputs, methods, SHOWN)
    return render("core/fragment.html.jinja", inputs=rows, more=max(0, len(inputs) - SHOWN))


def by_input(attributions: Iterable[Attribution]) -> list[list[Attribution]]:
    """Neighbouring attributions of one input in one row."""
    return [list(group) for _, group in groupby(attributions, key=lambda a: a.example_id)]


def to_html(
    inputs: Sequence[Sequence[Attribution]], path: str | None = None, methods: Sequence[str] | None = None
) -> str:
    """A self-contained page, written to `path` if one is given; attributions of one input stand together."""
    html = render("core/explanations.html.jinja", title=TITLE, inputs=_explanations(inputs, methods))
    if path is not None:
        write_page(html, path)
    return html


def patch_map(
    attribution: Attribution, darkest: float | None = None, marked: Iterable[bool] | None = None
) -> PatchMap | None:
    """The patches of an attribution of an image, with those that a rationale marks; None for a text."""
    boxes = [unit.box for unit in attribution.units if unit.box is not None]
    if not boxes:
        return None
    of_units = strengths(attribution.scores, reach([attribution]) if darkest is None else darkest)
    squares = tuple(
        Square(left, top, right - left, bottom - top, _rgba(strength), f"{float(score):+.4g}", bool(is_marked))
        for (left, top, right, bottom), strength, score, is_marked in zip(
            boxes, of_units, attribution.scores, [False] * len(boxes) if marked is None else marked, strict=True
        )
    )
    return PatchMap(max(box[2] for box in boxes), max(box[3] for box in boxes), squares)


def picture_of(rgb: Any) -> Picture | None:
    """An (H,W,3) array for a page. Its id follows from its content, so equal ids show equal images."""
    if rgb is None:
        return None
    return Picture(f"picture-{hashlib.sha256(rgb.tobytes()).hexdigest()[:12]}", png_address(rgb))


def legend(attributions: Sequence[Attribution], darkest: float) -> Legend:
    """The scale of the colours; scores of one sign need one half of it."""
    low, high = (any((a.scores * sign > 0).any() for a in attributions) for sign in (-1, 1))
    colours = [*([_rgba(-1.0)] if low else []), _rgba(0.0), *([_rgba(1.0)] if high or not low else [])]
    left, right = (f"{sign}{darkest:.2g}" if shown else "0" for sign, shown in (("−", low), ("+", high)))
    return Legend(left, right, f"linear-gradient(to right,{','.join(colours)})")


def _explanations(
    inputs: Sequence[Sequence[Attribution]], methods: Sequence[str] | None, shown: int | None = None
) -> list[list[Explanation]]:
    """A row per input; the colours of a method have one scale for all inputs, shown or not."""
    by_method: dict[str, list[Attribution]] = {}
    for a in (a for row in inputs for a in row):
        by_method.setdefault(_scale_of(a), []).append(a)
    scales = {name: _scale(group) for name, group in by_method.items()}
    drawn: set[str] = set()
    names = methods or [""] * max(map(len, inputs), default=0)
    return [
        [_explanation(a, name, *scales[_scale_of(a)], drawn) for a, name in zip(row, names, strict=False)]
        for row in inputs[:shown]
    ]


def _scale_of(attribution: Attribution) -> str:
    """Attributions of one method, for values on one scale, can be compared."""
    return f"{attribution.method} {attribution.target.scale}"


def _scale(attributions: Sequence[Attribution]) -> tuple[float, Legend]:
    darkest = reach(attributions)
    return darkest, legend(attributions, darkest)


def _explanation(attribution: Attribution, method: str, darkest: float, legend: Legend, drawn: set[str]) -> Explanation:
    patches, picture = patch_map(attribution, darkest), picture_of(attribution.picture)
    shown = picture if picture is None or picture.id not in drawn else picture.reference
    drawn |= set() if picture is None else {picture.id}
    return Explanation(
        title=title(attribution),
        details=details(attribution, method),
        spec=str(attribution.method),
        segments=() if patches else tuple(_segments(attribution, darkest)),
        patches=patches,
        picture=shown,
        legend=legend,
    )


def _segments(attribution: Attribution, darkest: float) -> Iterable[Segment]:
    """Both texts of a pair, whether they were scored or not."""
    scores = dict(zip(attribution.units, attribution.scores, strict=True))
    for units, rest in by_segment(attribution, darkest):
        yield Segment(tuple(_coloured(gap, unit, s, float(scores[unit])) for gap, unit, s in units), rest)


def _coloured(gap: str, unit: Any, strength: float, score: float) -> ColouredUnit:
    css = f"background:{_rgba(strength)}" if unit.seen else "opacity:.55;text-decoration:line-through"
    return ColouredUnit(gap, unit.text, css, f"{score:+.4g}" if unit.seen else "past the length limit")


def _rgba(strength: float) -> str:
    base = ",".join(map(str, FOR if strength > 0 else AGAINST))
    return f"rgba({base},{min(1.0, abs(strength)) * ALPHA:.3f})"
