"""Inputs as Examples: texts, pairs of texts, images, rows (dicts of columns) and Examples.

Everything that accepts inputs goes through here: `explain`, `load_dataset` and the files of the command line.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from assay.core.errors import InputError
from assay.core.types import Example
from assay.datasets.columns import Columns, columns_of_row
from assay.datasets.rationales import cell, parse_cell, rationales_from_row


def is_single(inputs: Any) -> bool:
    """Whether this is one input rather than a collection. A tuple of two texts is one input, a pair."""
    if isinstance(inputs, str | Example) or is_image(inputs):
        return True
    return isinstance(inputs, tuple) and _is_pair(inputs)


def as_examples(inputs: Any) -> Iterator[Example]:
    """Yield an Example per input; an input without an id gets its position."""
    if is_single(inputs):
        inputs = [inputs]
    if isinstance(inputs, Mapping) or not isinstance(inputs, Iterable):
        raise InputError(
            f"unsupported input type {type(inputs).__name__}; give a text, a pair, an image or a list of these"
        )
    for index, item in enumerate(inputs):
        yield as_example(item, index)


def as_example(item: Any, index: int) -> Example:
    """One input as an Example, without rationales. Errors carry `index`."""
    if isinstance(item, Example):
        return item if item.id else replace(item, id=str(index))
    row = as_row(item, index)
    return example_from_row(row, columns_of_row(tuple(name for name, value in row.items() if value is not None)), index)


def as_row(item: Any, index: int) -> Mapping[str, Any]:
    """One input as a row: a dict as it is, a text, pair or image by the name of its role."""
    if isinstance(item, Mapping):
        return item
    if isinstance(item, str):
        return {"text": item}
    if _is_pair(item):
        return {"text": item[0], "text_pair": item[1]}
    if is_image(item):
        return {"image": item}
    raise InputError(
        f"unsupported input type {type(item).__name__}; "
        "give a text, a (text, text_pair) tuple, an image, a dict or an Example",
        index,
    )


def example_from_row(row: Mapping[str, Any], columns: Columns, index: int) -> Example:
    """One row as an Example, its label unchanged. Errors carry `index`."""
    text, pair, image = (cell(row, column) for column in (columns.text, columns.text_pair, columns.image))
    if text is None and columns.tokens is not None:
        text = _join_tokens(parse_cell(cell(row, columns.tokens)))
    if text is None and image is None:
        raise InputError(f"no text or image among {', '.join(map(str, row))}; name a column 'text' or 'image'", index)
    for role, value in (("text", text), ("text_pair", pair)):
        if not isinstance(value, str | None):
            raise InputError(f"{role} must be a string, not {type(value).__name__}", index)
    try:
        rationales = rationales_from_row(row, columns, (text, pair))
    except InputError as error:
        raise InputError(error.message, index) from error
    name, label = cell(row, columns.id), cell(row, columns.label or columns.score)
    used = columns.used
    meta = {key: value for key, value in row.items() if key not in used}
    return Example(text, pair, _open_image(image), str(index) if name is None else str(name), label, rationales, meta)


def is_image(item: Any) -> bool:
    """Whether this is a PIL image or an (H,W,C) array."""
    return (isinstance(item, np.ndarray) and item.ndim == 3) or type(item).__module__.startswith("PIL.")


def _is_pair(item: Any) -> bool:
    return isinstance(item, list | tuple) and len(item) == 2 and all(isinstance(text, str) for text in item)


def _join_tokens(tokens: Any) -> str | None:
    return " ".join(map(str, tokens)) if isinstance(tokens, list | tuple) else None


def _open_image(image: Any) -> Any:
    """Open an image that a table holds as bytes; leave others as they are."""
    if not isinstance(image, Mapping) or image.get("bytes") is None:
        return image
    try:
        from PIL import Image
    except ImportError as error:
        raise InputError("images in tables need Pillow; install it with: pip install 'assay[images]'") from error
    return Image.open(io.BytesIO(image["bytes"]))
