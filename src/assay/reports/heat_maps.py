"""Heat maps of attributions for pages: text with coloured units, or a picture under its patches."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from html import escape
from itertools import groupby

import numpy as np

from assay.core.display import patches, pieces, strengths
from assay.core.types import Attribution, Example, Unit
from assay.evaluation.attribution_metric import rationale_units
from assay.models.encode import ImageEncoder
from assay.models.model import Model
from assay.reports.style import LEVELS

WINDOW = 140  # units shown of a long text
TOP = 3  # units in bold, if they are not much weaker than the strongest
WEAK = 0.2

KEY = (
    '<p class="note key"><span class="f7">Red</span> speaks for the class named, <span class="h"><span class="a7 '
    'against">blue with a line above</span></span> against it; the stronger, the more, each map by its own largest '
    "score. <b>Bold</b>: the highest scores, three at most. <u>Underlined</u>: what people marked as the reason.</p>"
)


# --- texts -----------------------------------------------------------------------------------------------------------


def shown_units(found: Sequence[Attribution]) -> set[Unit]:
    """All units, or of a long text the stretch where the methods together see most: the same for every method."""
    units = [unit for _, unit, _ in pieces(found[0])]
    if len(units) <= WINDOW or units[0].box is not None:
        return set(units)
    strong = [dict(zip(a.units, np.abs(strengths(a.scores)), strict=True)) for a in found]
    total = np.array([sum(part.get(unit, 0.0) for part in strong) for unit in units])
    sums = np.convolve(total, np.ones(WINDOW), "valid")
    start = int(sums.argmax())
    return set(units[start : start + WINDOW])


def heat_map(attribution: Attribution, example: Example, window: set[Unit], below: str) -> str:
    """The text or picture of one attribution, coloured."""
    if any(unit.box is not None for unit in attribution.units):
        return patches(attribution, below)
    marked = dict(zip(attribution.units, rationale_units(attribution.units, example), strict=True))
    scores = dict(zip(attribution.units, attribution.scores, strict=True))
    whole = pieces(attribution)
    best = sorted(whole, key=lambda piece: -piece[2])[:TOP]
    top = {unit for _, unit, strength in best if strength > WEAK}
    shown = [piece for piece in whole if piece[1] in window]
    out = ["… " if shown[0] is not whole[0] else ""]
    for (is_marked, _), run in groupby(shown, key=lambda p: (bool(marked[p[1]]), p[1].segment)):
        spans = [(gap, _span(unit, strength, float(scores[unit]), unit in top)) for gap, unit, strength in run]
        inside = spans[0][1] + "".join(_gap(gap) + span for gap, span in spans[1:])
        out.append(_gap(spans[0][0]) + (f'<u title="rationale">{inside}</u>' if is_marked else inside))
    out.append(" …" if shown[-1] is not whole[-1] else "")
    return f'<p class="h" dir="auto">{"".join(out)}</p>'


def _gap(gap: str) -> str:
    return f'<span class="seg">{escape(gap)}</span>' if gap.strip() else gap


def _span(unit: Unit, strength: float, score: float, top: bool) -> str:
    level = min(LEVELS, round(abs(strength) * LEVELS))
    kinds = [f"{'f' if strength > 0 else 'a'}{level}"] if level and unit.seen else []
    kinds += ["against"] if strength < 0 and level > 1 else []
    kinds += ["top"] if top else []
    kinds += [] if unit.seen else ["unseen"]
    title = f"{score:+.3g}" if unit.seen else "past the length limit"
    return f'<span class="{" ".join(kinds)}" title="{title}">{escape(unit.text)}</span>'


# --- images ----------------------------------------------------------------------------------------------------------


def pictures(model: Model, example: Example, i: int) -> tuple[str, str]:
    """The picture for the first map, and a reference to it for the others: it is in the page once."""
    address, name = _picture(model, example), f"picture-{i + 1}"
    if address is None:
        return "", ""
    return f'<image id="{name}" href="{address}" width="100%" height="100%"/>', f'<use href="#{name}"/>'


def _picture(model: Model, example: Example) -> str | None:
    """What the model reads, cropped and scaled as it reads it, as a data: address; so the patches lie where they do."""
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
    found: Sequence[float] | None = getattr(encoder.processor, f"image_{name}", None) if normalised else None
    return [default] if found is None else found
