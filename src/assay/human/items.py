"""Items: an input with the model's answer and its heat maps, which go by codes instead of the names of methods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from assay.core.errors import InputError
from assay.core.heat import by_segment, strengths
from assay.core.types import Attribution

DIGITS = 3  # of the strength of a colour


@dataclass(frozen=True)
class TextPart:
    """One text of the input: its units, each with the gap before it, and what follows the last one."""

    units: tuple[tuple[str, str, bool], ...]  # gap, text, whether the model read it
    rest: str


@dataclass(frozen=True)
class Item:
    """What participants judge. `maps`: by code, the strength of each unit from -1 to 1, in reading order."""

    example: str
    answer: str
    options: tuple[str, ...]  # answers that the model can give
    maps: Mapping[str, tuple[float, ...]]
    texts: tuple[TextPart, ...] = ()
    boxes: tuple[tuple[int, int, int, int], ...] = ()  # of patches: left, top, right, bottom
    picture: str | None = None  # name of the file in the folder `pictures`
    practice: bool = False
    metrics: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # values by metric and code

    @property
    def plain_text(self) -> str:
        return "\n".join("".join(gap + text for gap, text, _ in part.units) + part.rest for part in self.texts)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_dict(content: Mapping[str, Any]) -> Item:
        texts = tuple(
            TextPart(tuple((gap, text, bool(seen)) for gap, text, seen in part["units"]), part["rest"])
            for part in content["texts"]
        )
        boxes = tuple((box[0], box[1], box[2], box[3]) for box in content["boxes"])
        maps = {code: tuple(map(float, row)) for code, row in content["maps"].items()}
        return Item(**{**content, "texts": texts, "boxes": boxes, "maps": maps, "options": tuple(content["options"])})


def make_item(
    example: str,
    attributions: Mapping[str, Attribution],
    *,
    options: tuple[str, ...],
    picture: str | None = None,
    practice: bool = False,
) -> Item:
    """An item from the attributions of one input, by code.

    The darkest colour of each heat map is its largest score, as published: paler ones would give their method away.
    """
    first = next(iter(attributions.values()))
    for attribution in attributions.values():
        if attribution.units != first.units:
            raise InputError("the methods score different units of the input; give them the same units")
        if not np.isfinite(attribution.scores).all():
            raise InputError(f"a heat map of example {example!r} has scores that are not finite; leave out its method")
    boxes = tuple(unit.box for unit in first.units if unit.box is not None)
    answer = first.prediction
    return Item(
        example=example,
        answer=f"{answer:.3g}" if isinstance(answer, float) else str(answer),
        options=options,
        maps={code: _strengths(attribution, bool(boxes)) for code, attribution in attributions.items()},
        texts=() if boxes else tuple(_texts(first)),
        boxes=boxes,
        picture=picture,
        practice=practice,
    )


def _texts(attribution: Attribution) -> list[TextPart]:
    return [
        TextPart(tuple((gap, unit.text, unit.seen) for gap, unit, _ in pieces), rest)
        for pieces, rest in by_segment(attribution)
    ]


def _strengths(attribution: Attribution, is_image: bool) -> tuple[float, ...]:
    darkest = float(np.abs(attribution.scores).max(initial=0.0))
    if is_image:
        values = strengths(attribution.scores, darkest)
    else:
        values = [strength for pieces, _ in by_segment(attribution, darkest) for _, _, strength in pieces]
    return tuple(round(value, DIGITS) + 0.0 for value in values)
