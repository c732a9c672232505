"""From rows to a Dataset: texts, pairs and images with their labels and rationales."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from assay.core.errors import InputError
from assay.core.types import Example
from assay.datasets.columns import Columns, guess
from assay.datasets.dataset import Dataset
from assay.datasets.labels import settle
from assay.datasets.rationales import cell, plain, rationales_of

Names = Mapping[str, Sequence[str]]  # of integer labels, by column


def example_of(row: Mapping[str, Any], columns: Columns, index: int) -> Example:
    """One row as an Example, its label as it is written; an error carries `index`."""
    text, pair, image = (cell(row, c) for c in (columns.text, columns.text_pair, columns.image))
    if text is None and columns.tokens is not None:
        text = _joined(plain(cell(row, columns.tokens)))
    if text is None and image is None:
        raise InputError(f"no text or image among {', '.join(map(str, row))}; name a column 'text' or 'image'", index)
    for role, value in (("text", text), ("text_pair", pair)):
        if not isinstance(value, str | None):
            raise InputError(f"the {role} is a {type(value).__name__}, not a string", index)
    try:
        marks = rationales_of(row, columns, (text, pair))
    except InputError as error:
        raise InputError(error.message, index) from error
    name, label = cell(row, columns.id), cell(row, columns.label or columns.score)
    used = columns.used
    meta = {key: value for key, value in row.items() if key not in used}
    return Example(text, pair, _picture(image), str(index) if name is None else str(name), label, marks, meta)


def dataset_of(
    items: Iterable[Any], name: str, *, columns: Mapping[str, str | None] | None = None, names: Names | None = None
) -> Dataset:
    """A Dataset of dicts, texts or Examples; `names` are those of integer labels, by column."""
    rows = list(items)
    try:
        if any(isinstance(row, Example) for row in rows):
            return _from_examples(rows, name)
        return _from_rows([_row(item, i) for i, item in enumerate(rows)], name, columns, names or {})
    except InputError as error:
        place = "" if error.index is None else f", row {error.index + 1}"  # rows of a file are counted from 1
        raise InputError(f"{name}{place}: {error.message}") from error


def _row(item: Any, index: int) -> Mapping[str, Any]:
    if isinstance(item, InputError):
        raise InputError(item.message, index) from item
    if isinstance(item, str):
        return {"text": item}
    if not isinstance(item, Mapping):
        raise InputError(f"a {type(item).__name__} was given; give dicts of columns, texts or Examples", index)
    return item


def _from_rows(
    rows: Sequence[Mapping[str, Any]], name: str, given: Mapping[str, str | None] | None, names: Names
) -> Dataset:
    present = dict.fromkeys(key for row in rows for key, value in row.items() if value is not None)
    columns = _checked(guess(present, given) if rows else Columns(), rows, given or {})
    examples = [example_of(row, columns, i) for i, row in enumerate(rows)]
    known = dict(enumerate(names.get(columns.label or "", ()))) or _label_names(rows, columns)
    return _settled(examples, name, known, scores=columns.score is not None)


def _from_examples(items: Sequence[Any], name: str) -> Dataset:
    for i, item in enumerate(items):
        if not isinstance(item, Example):
            raise InputError(f"a {type(item).__name__} was given among Examples; give Examples only", i)
    return _settled([e if e.id else replace(e, id=str(i)) for i, e in enumerate(items)], name, {})


def _settled(examples: list[Example], name: str, known: Mapping[int, str], *, scores: bool = False) -> Dataset:
    labels, names, task = settle([e.label for e in examples], known, scores=scores)
    ids = _unique([e.id for e in examples])
    return Dataset(tuple(map(_with, examples, labels, ids)), name, names, task)


def _with(example: Example, label: Any, name: str) -> Example:
    if label is example.label and name is example.id:
        return example
    return replace(example, label=label, id=name)


def _unique(ids: list[str]) -> list[str]:
    """A repeated id gets its number: results are kept by id, and none may be lost."""
    seen: Counter[str] = Counter()
    out = []
    for name in ids:
        seen[name] += 1
        out.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return out


def _checked(columns: Columns, rows: Sequence[Mapping[str, Any]], given: Mapping[str, str | None]) -> Columns:
    """The guess after a look at the values: prose is no rationale, and annotators' labels must line up everywhere."""
    for role in ("rationale", "rationales"):
        column = getattr(columns, role)
        first = next((v for row in rows if (v := plain(cell(row, column))) is not None), None)
        if isinstance(first, str) and role not in given:
            columns = replace(columns, **{role: None})
    one, many = columns.annotator_labels, columns.rationales
    if one and many and not all(_length(row.get(one)) == _length(row.get(many)) for row in rows):
        columns = replace(columns, annotator_labels=None)
    return columns


def _length(value: Any) -> int:
    return len(plain(value) or ())


def _label_names(rows: Sequence[Mapping[str, Any]], columns: Columns) -> dict[int, str]:
    if columns.label is None or columns.label_name is None:
        return {}
    pairs = {row.get(columns.label): row.get(columns.label_name) for row in rows}
    return {label: str(name) for label, name in pairs.items() if isinstance(label, int) and name is not None}


def _joined(tokens: Any) -> str | None:
    return " ".join(map(str, tokens)) if isinstance(tokens, list | tuple) else None


def _picture(image: Any) -> Any:
    """An image as it is, or opened from the bytes that a table holds."""
    if not isinstance(image, Mapping) or image.get("bytes") is None:
        return image
    try:
        from PIL import Image
    except ImportError as error:
        raise InputError("images in tables need Pillow; install it with: pip install 'assay[images]'") from error
    return Image.open(io.BytesIO(image["bytes"]))
