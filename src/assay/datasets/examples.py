"""Inputs as Examples: texts, pairs of texts, images, rows (dicts of columns), tables of rows, and Examples.

Everything that accepts inputs goes through here: `explain`, `load_dataset` and the files of the command line.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from assay.core.cells import parse_cell
from assay.core.errors import DataWarning, InputError
from assay.core.notices import notice
from assay.core.types import Example
from assay.datasets.column_notes import column_notes, no_text, option, text_columns
from assay.datasets.columns import ColumnMap, Columns, as_columns, columns_of_row, guess_columns
from assay.datasets.image_rationales import image_rationales
from assay.datasets.images import image_files, is_image, open_image
from assay.datasets.pixels import channels_first
from assay.datasets.rationales import cell, rationales_from_row
from assay.datasets.read import READABLE, format_of
from assay.datasets.tables import as_items, as_single_row

Row = Mapping[str, Any]
DATA_FILES = tuple(f"{suffix}{packed}" for suffix in READABLE for packed in ("", ".gz"))


def is_single(inputs: Any) -> bool:
    """Whether this is one input rather than a collection. A tuple of two texts is one input, a pair."""
    if isinstance(inputs, str | Example) or is_image(inputs):
        return True
    return (isinstance(inputs, tuple) and _is_pair(inputs)) or as_single_row(inputs) is not None


def as_inputs(inputs: Any) -> Any:
    """One input, or several of any kind, as a collection with one item per input."""
    if is_single(inputs):
        if isinstance(inputs, np.ndarray) and channels_first(inputs):
            notice("channels", _one_image(inputs.shape))
        return [inputs if (row := as_single_row(inputs)) is None else row]
    if isinstance(inputs, Path):
        return image_files(inputs)
    return as_items(inputs)


def as_examples(inputs: Any, columns: ColumnMap | str | None = None) -> Iterator[Example]:
    """Yield an Example per input; an input without an id gets its position. columns: {role: column} of rows."""
    items, given = as_inputs(inputs), as_columns(columns)
    is_table = isinstance(items, Sequence) and all(isinstance(item, Mapping) for item in items)
    roles = warn_of_unused(items, given) if is_table else None
    for index, item in enumerate(items):
        yield as_example(item, index, given, roles)


def as_example(item: Any, index: int, given: ColumnMap | None = None, roles: Columns | None = None) -> Example:
    """One input as an Example, without rationales. given: columns that the user names; roles: all of them, if known.

    Errors carry `index`.
    """
    if isinstance(item, Example):
        _check_text(item, index)
        return _finished(item, index)
    row = as_row(item, index)
    if roles is None:
        present = tuple(name for name, value in row.items() if value is not None)
        roles = columns_of_row(present, tuple((given or {}).items()) if isinstance(item, Mapping) else ())
    return example_from_row(row, roles, index)


def _finished(example: Example, index: int) -> Example:
    """An Example of the user's with an id, and with its image read as all others are."""
    try:
        image = None if example.image is None else open_image(example.image)
    except InputError as error:
        raise InputError(error.message, index) from error
    if example.id and image is example.image:
        return example
    return replace(example, id=example.id or str(index), image=image)


def as_row(item: Any, index: int) -> Row:
    """One input as a row: a dict as it is, a text, pair or image by the name of its role."""
    if isinstance(item, Mapping):
        return item
    if isinstance(item, str | Path):
        _not_a_file(str(item), index)
    if is_image(item):
        return {"image": item, "id": Path(item).name} if isinstance(item, str | Path) else {"image": item}
    if isinstance(item, str):
        return {"text": item}
    if _is_pair(item):
        return {"text": item[0], "text_pair": item[1]}
    if item is None:
        raise InputError("there is no text: the cell is empty; leave such inputs out", index)
    raise InputError(
        f"unsupported input type {type(item).__name__}; "
        "give a text, a (text, text_pair) tuple, an image or its path, a dict or an Example",
        index,
    )


def present_columns(rows: Sequence[Row]) -> dict[str, None]:
    """The columns that hold a value in some row, in order."""
    return dict.fromkeys(key for row in rows for key, value in row.items() if value is not None)


def example_from_row(row: Row, columns: Columns, index: int) -> Example:
    """One row as an Example, its label unchanged. Errors carry `index`."""
    text, pair, image = (cell(row, column) for column in (columns.text, columns.text_pair, columns.image))
    if text is None and columns.tokens is not None:
        text = _join_tokens(parse_cell(cell(row, columns.tokens)))
    if text is None and image is None:
        raise InputError(no_text([row], columns), index)
    for role, value in (("text", text), ("text_pair", pair)):
        if not isinstance(value, str | None):
            raise InputError(_not_a_text(role, value, row, getattr(columns, role)), index)
    try:
        image = None if image is None else open_image(image, getattr(row, "folder", None))
        if text is None:
            rationales = image_rationales(row, columns, image)
        else:
            rationales = rationales_from_row(row, columns, (text, pair))
    except InputError as error:
        raise InputError(error.message, index) from error
    name, label = cell(row, columns.id), cell(row, columns.label or columns.score)
    used = columns.used
    meta = {key: value for key, value in row.items() if key not in used}
    name = str(index) if name is None else str(name)
    example = Example(text, pair, image, name, label, rationales, meta)
    _check_text(example, index)
    return example


def warn_of_unused(rows: Sequence[Row], given: ColumnMap | None) -> Columns | None:
    """The columns of some rows, with a warning about texts that are left out; None for no rows."""
    if not rows:
        return None
    columns = guess_columns(present_columns(rows), given)
    for note in column_notes(rows, columns, given or {}):
        warnings.warn(note, DataWarning, stacklevel=2)
    return columns.without_rationales()


def _check_text(example: Example, index: int) -> None:
    """Half a surrogate pair is no character: no tokenizer, file or terminal takes it."""
    for role in ("text", "text_pair", "id", "label"):
        value = getattr(example, role)
        if not isinstance(value, str) or value.isascii():
            continue
        try:
            value.encode()
        except UnicodeEncodeError as error:
            broken = value[error.start].encode("ascii", "backslashreplace").decode()
            raise InputError(
                f"the {role} contains {broken}, half of a character (a lone surrogate); remove or repair it", index
            ) from error


def _not_a_file(text: str, index: int) -> None:
    """A data file given by name where a text is expected: explaining its name is never meant."""
    named_as_file = len(text) < 256 and text.lower().endswith(DATA_FILES)  # quick: nearly all texts end here
    if named_as_file and format_of(Path(text)) in READABLE and Path(text).is_file():
        raise InputError(
            f"{text!r} is a file, not a text; give it with --input, or in Python as assay.load_dataset({text!r})",
            index,
        )


def _not_a_text(role: str, value: Any, row: Row, column: str) -> str:
    """What the column holds instead, and which other column may be meant: FEVER's `evidence` are ids of sentences."""
    kind = type(value).__name__
    others = [name for name in text_columns([row]) if name != column]
    advice = f"; if the text is in {others[0]!r}: {option({'text': others[0]})}" if others else ""
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        advice += f"; if they are tokens: {option({'tokens': column})}"
    if value != value:
        advice = "; an empty cell is None"
    where = "" if column == role else f" (the column {column!r})"
    return f"{role}{where} must be a string, not {kind}{advice}"


def _one_image(shape: tuple[int, ...]) -> str:
    """An array of three dimensions may be one image in colour as well as three in grey."""
    n, height, width = shape
    several = f"; for {n} grey images, give the shape ({n}, {height}, {width}, 1)" if n > 1 else ""
    return f"the array of shape {shape} is read as one image, its {n} channel{'s' * (n > 1)} first{several}"


def _is_pair(item: Any) -> bool:
    return isinstance(item, list | tuple) and len(item) == 2 and all(isinstance(text, str) for text in item)


def _join_tokens(tokens: Any) -> str | None:
    return " ".join(map(str, tokens)) if isinstance(tokens, list | tuple) else None
