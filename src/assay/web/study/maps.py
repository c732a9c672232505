"""Heat maps of an item for its page: one colour map and one scale for all, and nothing that names a method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.human.folder import StudyFolder
from assay.human.items import Item
from assay.human.settings import Colours

LEVELS = 9  # shades in the stylesheet
NAMES = "ABCDEFGH"


@dataclass(frozen=True)
class ShownUnit:
    """One unit of a text with the gap before it and the class of its colour."""

    gap: str
    text: str
    shade: str
    seen: bool


@dataclass(frozen=True)
class ShownText:
    """One text of the input."""

    units: tuple[ShownUnit, ...]
    rest: str


@dataclass(frozen=True)
class ShownPatch:
    """One patch of an image."""

    x: int
    y: int
    width: int
    height: int
    shade: str
    opacity: str


@dataclass(frozen=True)
class ShownMap:
    """A heat map under a letter that follows from its place on the page."""

    name: str
    texts: tuple[ShownText, ...] = ()
    patches: tuple[ShownPatch, ...] = ()


def shown_maps(folder: StudyFolder, item: Item, codes: Sequence[str]) -> list[ShownMap]:
    """The heat maps of a task from left to right."""
    return [
        _shown(item, NAMES[place], _colours(folder.study.colours, item.maps[code], code in folder.unsigned))
        for place, code in enumerate(codes)
    ]


def plain_input(item: Item) -> ShownMap:
    """The input without colours."""
    return _shown(item, "", [("", 0.0)] * max(len(item.boxes), sum(len(part.units) for part in item.texts)))


def size_of(item: Item) -> tuple[int, int]:
    """Width and height of the image."""
    return max(box[2] for box in item.boxes), max(box[3] for box in item.boxes)


Coloured = list[tuple[str, float]]  # the colour, f (for) or a (against), and its strength from 0 to 1


def _colours(colours: Colours, strengths: Sequence[float], unsigned: bool) -> Coloured:
    if colours == "support":  # relative to the largest support, so that no heat map is paler than another
        most = max(0.0, *strengths)
        return [("f", max(0.0, s) / most if most else 0.0) for s in strengths]
    if colours == "published" and unsigned:
        return [("a", abs(s)) for s in strengths]
    return [("f" if s > 0 else "a", abs(s)) for s in strengths]


def _shown(item: Item, name: str, coloured: Coloured) -> ShownMap:
    if item.boxes:
        pairs = zip(item.boxes, coloured, strict=True)
        return ShownMap(name, patches=tuple(_patch(box, *colour) for box, colour in pairs if colour[1] > 0))
    texts, start = [], 0
    for part in item.texts:
        own = coloured[start : start + len(part.units)]
        units = [
            ShownUnit(gap, text, _shade(*colour) if seen else "", seen)
            for (gap, text, seen), colour in zip(part.units, own, strict=True)
        ]
        texts.append(ShownText(tuple(units), part.rest))
        start += len(part.units)
    return ShownMap(name, texts=tuple(texts))


def _patch(box: tuple[int, int, int, int], colour: str, strength: float) -> ShownPatch:
    left, top, right, bottom = box
    return ShownPatch(left, top, right - left, bottom - top, f"patch-{colour}", f"{0.8 * strength:.2f}")


def _shade(colour: str, strength: float) -> str:
    level = min(LEVELS, round(strength * LEVELS))
    return f"{colour}{level}" if level else ""
