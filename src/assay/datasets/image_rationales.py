"""Rationales of images: boxes and masks, stored as runs of pixels that are counted row by row."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from assay.core.cells import parse_cell
from assay.core.errors import InputError
from assay.core.types import PIXELS, Bools, Span
from assay.datasets.columns import Columns
from assay.datasets.images import found_file, size_of
from assay.datasets.rationales import Spans, agreeing, cell

CORNERS, CORNER_AND_SIZE = ("left", "top", "right", "bottom"), ("x", "y", "width", "height")
FORMS = 'write {"left": 3, "top": 5, "right": 9, "bottom": 8} or {"x": 3, "y": 5, "width": 6, "height": 3}'


def image_rationales(row: Mapping[str, Any], columns: Columns, image: Any) -> tuple[Spans, ...]:
    """The marked pixels of each annotator; empty if no annotator marked anything."""
    folder = getattr(row, "folder", None)
    several = parse_cell(cell(row, columns.rationales))
    given = [cell(row, columns.rationale)] if several is None else agreeing(several, row, columns)
    spans = tuple(runs(marked_pixels(value, size_of(image), folder)) for value in given)
    return spans if any(spans) else ()


def marked_pixels(value: Any, size: tuple[int, int], folder: Path | None = None) -> Bools:
    """(H,W) the pixels of an image of this width and height that boxes cover or a mask marks."""
    shape = size[::-1]
    value = parse_cell(value) if isinstance(value, str) else value
    if value is None or (isinstance(value, str | list) and not value):
        return np.zeros(shape, bool)
    if isinstance(value, Mapping) and not {"bytes", "path"} & set(value):
        value = [value]
    if isinstance(value, list | tuple) and all(isinstance(box, Mapping) for box in value):
        marked = np.zeros(shape, bool)
        for box in value:
            left, top, right, bottom = _corners(box, size)
            marked[top:bottom, left:right] = True
        return marked
    if isinstance(value, list | tuple) and np.shape(value[0]) != (size[0],) and _are_fours(value):
        raise InputError(f"cannot read the boxes {str(value)[:60]}: four numbers may mean two things; {FORMS}")
    mask = _mask(value, folder)
    if mask.shape != shape:
        found = " x ".join(map(str, mask.shape[::-1]))
        raise InputError(f"the mask has {found} pixels, but the image {size[0]} x {size[1]}; give masks of its size")
    return _two_valued(mask)


def runs(marked: Bools) -> Spans:
    """The marked pixels as spans, row by row."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], marked.ravel(), [False]])))
    return tuple(Span(PIXELS, int(start), int(end)) for start, end in zip(edges[::2], edges[1::2], strict=True))


def _corners(box: Mapping[str, Any], size: tuple[int, int]) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of a box, widened to whole pixels; right and bottom are not part of it."""
    if set(box) not in (set(CORNERS), set(CORNER_AND_SIZE)):
        raise InputError(f"a box of a rationale has the keys {', '.join(map(str, box))}; {FORMS}")
    try:
        a, b, c, d = (float(box[key]) for key in (CORNERS if "left" in box else CORNER_AND_SIZE))
    except (TypeError, ValueError) as error:
        raise InputError(f"a box of a rationale holds something else than numbers: {dict(box)}; {FORMS}") from error
    left, top, right, bottom = (a, b, c, d) if "left" in box else (a, b, a + c, b + d)
    width, height = size
    if not (0 <= left < right <= width and 0 <= top < bottom <= height):
        raise InputError(f"the box {dict(box)} does not lie in the image, which has {width} x {height} pixels")
    if max(right, bottom) <= 1 and not all(map(float.is_integer, (left, top, right, bottom))):
        raise InputError(f"the box {dict(box)} seems to hold shares of the image; give pixels")
    return math.floor(left), math.floor(top), math.ceil(right), math.ceil(bottom)


def _are_fours(value: Sequence[Any]) -> bool:
    rows = value if isinstance(value[0], list | tuple) else [value]
    return all(isinstance(row, list | tuple) and len(row) == 4 for row in rows)


def _mask(value: Any, folder: Path | None) -> Any:
    """An array (H,W) of a mask in a file, as bytes, as a PIL image or as an array; of a palette, the indices."""
    from PIL import Image, ImageOps

    if isinstance(value, Mapping):
        value = value.get("bytes") or str(value.get("path") or "")
    name = value if isinstance(value, str | Path) else "a mask"
    try:
        if isinstance(value, bytes):
            value = Image.open(io.BytesIO(value))
        elif isinstance(value, str | Path):
            value = Image.open(found_file(value, folder))
        mask = np.asarray(ImageOps.exif_transpose(value) if hasattr(value, "convert") else value)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {name} as a mask: {error}") from error
    if mask.ndim == 3 and (mask == mask[..., :1]).all():
        mask = mask[..., 0]
    if mask.ndim != 2 or mask.dtype.kind not in "buif":
        raise InputError(f"cannot read {name} as a mask; give a grey image, an array (H,W), or boxes: {FORMS}")
    return mask


def _two_valued(mask: Any) -> Bools:
    values = np.unique(mask)
    if len(values) > 2 or (len(values) == 2 and values[0] != 0):
        listed = ", ".join(f"{value:g}" for value in values[:3]) + ", ..." * (len(values) > 3)
        raise InputError(
            f"a mask holds the values {listed}; give two, 0 and another where the rationale is, in a file without loss "
            "such as PNG"
        )
    return np.asarray(mask != 0)
