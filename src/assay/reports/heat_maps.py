"""Heat maps of attributions for pages: text with coloured units, or a picture under its patches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from assay.core.explanation_page import PatchMap, Picture, patch_map, picture_of
from assay.core.heat import pieces, reach, strengths
from assay.core.types import Attribution, Example, Unit
from assay.evaluation.attribution_metric import rationale_units
from assay.models.model import Model

LEVELS = 9  # shades in the stylesheet, each for and against the class
WINDOW = 140  # units shown of a long text
TOP = 3  # units in bold, unless they are much weaker than the strongest
WEAK = 0.2


@dataclass(frozen=True)
class HeatUnit:
    """One unit of a text with the gap before it."""

    gap: str
    text: str
    classes: str
    title: str
    place: str  # segment and characters, such as 0:12-17


@dataclass(frozen=True)
class HeatRun:
    """Neighbouring units of one segment that a rationale marks, or that none marks."""

    marked: bool
    units: tuple[HeatUnit, ...]


@dataclass(frozen=True)
class HeatMap:
    """The values of the macro `heat_map`: runs of a text, or patches of an image."""

    runs: tuple[HeatRun, ...] = ()
    cut_before: bool = False
    cut_after: bool = False
    patches: PatchMap | None = None
    picture: Picture | None = None
    darkest: str = ""  # the score with the darkest colour


def heat_maps(
    attributions: Mapping[str, Attribution], example: Example, window: set[Unit], picture: Picture | None
) -> dict[str, HeatMap]:
    """One heat map per method; the first holds the picture, the others refer to it."""
    pictures = [picture, *[picture and picture.reference] * len(attributions)]
    return {
        method: heat_map(attribution, example, window, shown)
        for (method, attribution), shown in zip(attributions.items(), pictures, strict=False)
    }


def heat_map(
    attribution: Attribution,
    example: Example,
    window: set[Unit],
    picture: Picture | None = None,
    largest: float | None = None,
) -> HeatMap:
    """The heat map of one attribution; of a text, the units in `window`.

    largest: the score with the darkest colour, where several maps share a scale; None is that of the attribution.
    """
    largest = reach([attribution]) if largest is None else largest
    darkest = f"{largest:.2g}"
    of_rationale = rationale_units(attribution.units, example)
    if patches := patch_map(attribution, largest, of_rationale):
        return HeatMap(patches=patches, picture=picture, darkest=darkest)
    marked = dict(zip(attribution.units, of_rationale, strict=True))
    scores = dict(zip(attribution.units, attribution.scores, strict=True))
    everything = pieces(attribution, largest)
    strongest = sorted(everything, key=lambda piece: -piece[2])[:TOP]
    top = {unit for _, unit, strength in strongest if strength > WEAK}
    shown = [piece for piece in everything if piece[1] in window]
    runs = [
        HeatRun(is_marked, tuple(_heat_unit(gap, unit, strength, float(scores[unit]), unit in top)
                                 for gap, unit, strength in run))
        for (is_marked, _), run in groupby(shown, key=lambda piece: (bool(marked[piece[1]]), piece[1].segment))
    ]  # fmt: skip
    return HeatMap(tuple(runs), shown[0] is not everything[0], shown[-1] is not everything[-1], darkest=darkest)


def shown_units(attributions: Sequence[Attribution]) -> set[Unit]:
    """All units, or the part of a long text with the largest scores over all methods."""
    units = [unit for _, unit, _ in pieces(attributions[0])]
    if len(units) <= WINDOW or units[0].box is not None:
        return set(units)
    strength = [dict(zip(a.units, np.abs(strengths(a.scores, reach([a]))), strict=True)) for a in attributions]
    total = np.array([sum(of_method.get(unit, 0.0) for of_method in strength) for unit in units])
    start = int(np.convolve(total, np.ones(WINDOW), "valid").argmax())
    return set(units[start : start + WINDOW])


def _heat_unit(gap: str, unit: Unit, strength: float, score: float, top: bool) -> HeatUnit:
    level = min(LEVELS, round(abs(strength) * LEVELS))
    classes = [f"{'f' if strength > 0 else 'a'}{level}"] if level and unit.seen else []
    classes += ["against"] if strength < 0 and level > 1 else []
    classes += ["top"] if top else []
    classes += [] if unit.seen else ["unseen"]
    title = f"{score:+.3g}" if unit.seen else "past the length limit"
    return HeatUnit(gap, unit.text, " ".join(classes), title, f"{unit.segment}:{unit.start}-{unit.end}")


# --- images ----------------------------------------------------------------------------------------------------------


def picture(model: Model, example: Example) -> Picture | None:
    """The image that the model reads, to draw under its patches; None for a text."""
    return None if example.image is None else picture_of(model.encode(example).picture)


def as_read(model: Model, example: Example) -> Example:
    """An image whose rationales mark the patches that the model reads; any other example as it is."""
    return example if example.image is None or not example.rationales else model.encode(example).example
