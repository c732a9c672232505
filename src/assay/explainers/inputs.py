"""Inputs of `explain`: texts, pairs, images, dicts, Examples, lists of these, or a datasets.Dataset."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from assay.core.errors import InputError
from assay.core.types import Example

TEXT = ("text", "sentence", "sentence1", "premise", "question", "review", "content")
PAIR = ("text_pair", "sentence2", "hypothesis", "sentence_b")
IMAGE = ("image", "img", "pixel_values")


def is_single(inputs: Any) -> bool:
    """Whether this is one input rather than a collection; a tuple of two texts is a pair."""
    if isinstance(inputs, str | Example) or is_image(inputs):
        return True
    return isinstance(inputs, tuple) and len(inputs) == 2 and all(isinstance(t, str) for t in inputs)


def examples(inputs: Any) -> Iterator[Example]:
    """Yield Examples; those without an id get their position as id."""
    if is_single(inputs):
        inputs = [inputs]
    if isinstance(inputs, Mapping) or not isinstance(inputs, Iterable):
        raise InputError(f"a {type(inputs).__name__} was given; give a text, a pair, an image or a list of these")
    for index, item in enumerate(inputs):
        yield example(item, index)


def example(item: Any, index: int) -> Example:
    """One input as an Example."""
    if isinstance(item, Example):
        return item if item.id else _with_id(item, index)
    if isinstance(item, str):
        return Example(text=item, id=str(index))
    if isinstance(item, list | tuple) and len(item) == 2 and all(isinstance(t, str) for t in item):
        return Example(text=item[0], text_pair=item[1], id=str(index))
    if is_image(item):
        return Example(image=item, id=str(index))
    if isinstance(item, Mapping):
        return _from_row(item, index)
    raise InputError(
        f"a {type(item).__name__} was given; give a text, a (text, text_pair) tuple, an image or a dict", index
    )


def is_image(item: Any) -> bool:
    """Whether this is a PIL image or an (H,W,C) array."""
    return (isinstance(item, np.ndarray) and item.ndim == 3) or type(item).__module__.startswith("PIL.")


def _from_row(row: Mapping[str, Any], index: int) -> Example:
    """A dict or a row of a data set, by common column names."""
    text, pair, image = (next((row[k] for k in names if row.get(k) is not None), None) for names in (TEXT, PAIR, IMAGE))
    if text is None and image is None:
        raise InputError(f"no text or image among {', '.join(map(str, row))}; name a column 'text' or 'image'", index)
    for name, value in (("text", text), ("text_pair", pair)):
        if not isinstance(value, str | None):
            raise InputError(f"the {name} is a {type(value).__name__}, not a string", index)
    row_id = row.get("id", row.get("idx"))
    return Example(text, pair, image, str(index) if row_id is None else str(row_id), row.get("label"))


def _with_id(item: Example, index: int) -> Example:
    return replace(item, id=str(index))
