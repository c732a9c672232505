"""Heat maps of attributions for pages: text with coloured units, or a picture under its patches."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from assay.core.display import pieces, strengths
from assay.core.explanation_page import PatchMap, patch_map
from assay.core.types import Attribution, Example, Unit
from assay.evaluation.attribution_metric import rationale_units
from assay.models.encode import ImageEncoder
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


@dataclass(frozen=True)
class HeatRun:
    """Neighbouring units of one segment that a rationale marks, or that none marks."""

    marked: bool
    units: tuple[HeatUnit, ...]


@dataclass(frozen=True)
class Picture:
    """An image on a page; without an address, a reference to the one with the same id."""

    id: str
    address: str | None

    @property
    def reference(self) -> Picture:
        return replace(self, address=None)


@dataclass(frozen=True)
class HeatMap:
    """The values of the macro `heat_map`: runs of a text, or patches of an image."""

    runs: tuple[HeatRun, ...] = ()
    cut_before: bool = False
    cut_after: bool = False
    patches: PatchMap | None = None
    picture: Picture | None = None


def heat_maps(
    attributions: Mapping[str, Attribution], example: Example, window: set[Unit], picture: Picture | None
) -> dict[str, HeatMap]:
    """One heat map per method; the first holds the picture, the others refer to it."""
    pictures = [picture, *[picture and picture.reference] * len(attributions)]
    return {
        method: heat_map(attribution, example, window, shown)
        for (method, attribution), shown in zip(attributions.items(), pictures, strict=False)
    }


def heat_map(attribution: Attribution, example: Example, window: set[Unit], picture: Picture | None = None) -> HeatMap:
    """The heat map of one attribution; of a text, the units in `window`."""
    if patches := patch_map(attribution):
        return HeatMap(patches=patches, picture=picture)
    marked = dict(zip(attribution.units, rationale_units(attribution.units, example), strict=True))
    scores = dict(zip(attribution.units, attribution.scores, strict=True))
    everything = pieces(attribution)
    strongest = sorted(everything, key=lambda piece: -piece[2])[:TOP]
    top = {unit for _, unit, strength in strongest if strength > WEAK}
    shown = [piece for piece in everything if piece[1] in window]
    runs = [
        HeatRun(is_marked, tuple(_heat_unit(gap, unit, strength, float(scores[unit]), unit in top)
                                 for gap, unit, strength in run))
        for (is_marked, _), run in groupby(shown, key=lambda piece: (bool(marked[piece[1]]), piece[1].segment))
    ]  # fmt: skip
    return HeatMap(tuple(runs), shown[0] is not everything[0], shown[-1] is not everything[-1])


def shown_units(attributions: Sequence[Attribution]) -> set[Unit]:
    """All units, or the part of a long text with the largest scores over all methods."""
    units = [unit for _, unit, _ in pieces(attributions[0])]
    if len(units) <= WINDOW or units[0].box is not None:
        return set(units)
    strength = [dict(zip(a.units, np.abs(strengths(a.scores)), strict=True)) for a in attributions]
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
    return HeatUnit(gap, unit.text, " ".join(classes), title)


# --- images ----------------------------------------------------------------------------------------------------------


def picture(model: Model, example: Example, number: int) -> Picture | None:
    """The image that the model reads, to draw under its patches; None for a text, or without Pillow."""
    address = None if example.image is None else _png_address(model, example)
    return None if address is None else Picture(f"picture-{number}", address)


def _png_address(model: Model, example: Example) -> str | None:
    """The image as a data: address, cropped and scaled as the model reads it, so that the patches fit."""
    try:
        from PIL import Image
    except ImportError:
        return None
    pixels = model.encode(example).pixels
    if pixels is None or not isinstance(model.encoder, ImageEncoder):
        return None
    mean, std = (np.reshape(_per_channel(model.encoder, n, d), (-1, 1, 1)) for n, d in (("mean", 0.0), ("std", 1.0)))
    values = np.clip((pixels * std + mean) * 255, 0, 255).astype(np.uint8)
    rgb = np.broadcast_to(values, (3, *values.shape[1:])).transpose(1, 2, 0)
    file = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(rgb)).save(file, "PNG")
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()


def _per_channel(encoder: ImageEncoder, name: str, default: float) -> Sequence[float]:
    normalised = getattr(encoder.processor, "do_normalize", True)
    values: Sequence[float] | None = getattr(encoder.processor, f"image_{name}", None) if normalised else None
    return [default] if values is None else values
