"""Build a Dataset from inputs in memory or rows of a file: infer columns, labels, task and unique ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from assay.core.errors import InputError
from assay.core.notices import collected
from assay.core.types import Example
from assay.datasets.column_notes import column_notes, no_text, other_labels, split_notes, unread_labels
from assay.datasets.columns import ColumnMap, Columns, guess_columns
from assay.datasets.dataset import Dataset
from assay.datasets.examples import as_example, as_row, example_from_row, present_columns
from assay.datasets.label_notes import label_notes, labels_in_texts
from assay.datasets.labels import infer_labels
from assay.datasets.rationale_columns import check_rationales
from assay.datasets.rationale_notes import rationale_notes
from assay.datasets.text_notes import share, text_notes

LabelNames = Mapping[str, Sequence[str]]  # names of integer labels, by column


def build_dataset(
    items: Iterable[Any], name: str, *, columns: ColumnMap | None = None, label_names: LabelNames | None = None
) -> Dataset:
    """A Dataset from rows (dicts), texts, pairs or images, or from Examples only.

    label_names: names of integer labels, by column. An InputError among the items, as `read_rows` yields it, is raised.
    """
    items = list(items)
    try:
        if any(isinstance(item, Example) for item in items):
            return _from_examples(items, name)
        return _from_rows([_checked_row(item, i) for i, item in enumerate(items)], name, columns, label_names or {})
    except InputError as error:
        row = "" if error.index is None else f", row {error.index + 1}"  # rows of a file are counted from 1
        raise InputError(f"{name}{row}: {error.message}") from error


def _checked_row(item: Any, index: int) -> Mapping[str, Any]:
    if isinstance(item, InputError):
        raise InputError(item.message, index) from item
    return as_row(item, index)


def _from_rows(
    rows: Sequence[Mapping[str, Any]], name: str, given: ColumnMap | None, label_names: LabelNames
) -> Dataset:
    columns = guess_columns(present_columns(rows), given) if rows else Columns()
    if rows and columns.text is None and columns.tokens is None and columns.image is None:
        raise InputError(no_text(rows, columns))
    columns, rationale_column_notes = check_rationales(columns, rows, given or {})
    with collected() as remarks:
        examples = [example_from_row(row, columns, i) for i, row in enumerate(rows)]
    names = dict(enumerate(label_names.get(columns.label or "", ())))
    names, name_notes = (names, ()) if names else _names_from_rows(rows, columns)
    data = _finish(examples, name, names, columns, guessed=None if "score" in (given or {}) else columns.score)
    notes = (
        *column_notes(rows, columns, given or {}),
        *rationale_column_notes,
        *unread_labels(rows, columns, given or {}),
        *other_labels(rows, columns, given or {}),
        *name_notes,
        *split_notes(rows),
        *(f"{remark}." for remark in remarks),
        *data.notes,
    )
    return replace(data, notes=notes)


def _from_examples(items: Sequence[Any], name: str) -> Dataset:
    for i, item in enumerate(items):
        if not isinstance(item, Example):
            raise InputError(f"unsupported input type {type(item).__name__} among Examples; give Examples only", i)
    return _finish([as_example(item, i) for i, item in enumerate(items)], name, {}, Columns())


def _finish(
    examples: list[Example], name: str, label_names: Mapping[int, str], columns: Columns, *, guessed: str | None = None
) -> Dataset:
    given = [example.label for example in examples]
    inferred = infer_labels(given, label_names, scores=columns.score is not None)
    labels, names, task = inferred
    ids = _unique([example.id for example in examples])
    finished = tuple(map(_update, examples, labels, ids))
    notes = (
        *text_notes(finished),
        *label_notes(given, inferred, columns.label, named=bool(label_names), guessed=guessed),
        *labels_in_texts(finished, names or ()),
        *rationale_notes(finished),
        *_id_notes(examples, ids),
    )
    return Dataset(finished, name, names, task, roles=columns.chosen, notes=notes)


def _id_notes(examples: Sequence[Example], ids: Sequence[str]) -> Iterator[str]:
    repeated = [example.id for example, name in zip(examples, ids, strict=True) if example.id != name]
    if repeated:
        numbered = f"{repeated[0]!r}, {f'{repeated[0]}#2'!r}"
        yield f"{share(len(repeated), len(ids))} ids repeat an earlier one and are numbered: {numbered}."


def _update(example: Example, label: Any, name: str) -> Example:
    if label is example.label and name is example.id:
        return example
    return replace(example, label=label, id=name)


def _unique(ids: list[str]) -> list[str]:
    """Number repeated ids (x, x#2, ...): results are stored by id."""
    seen: Counter[str] = Counter()
    unique = []
    for name in ids:
        seen[name] += 1
        unique.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return unique


def _names_from_rows(rows: Sequence[Mapping[str, Any]], columns: Columns) -> tuple[dict[int, str], tuple[str, ...]]:
    """The names of integer labels from the column beside them, or a note that it does not name them."""
    if columns.label is None or columns.label_name is None:
        return {}, ()
    names: dict[int, str] = {}
    for row in rows:
        label, name = row.get(columns.label), row.get(columns.label_name)
        index = int(label) if isinstance(label, str) and label.strip().isdecimal() else label
        if not isinstance(index, int) or name is None:
            continue
        if names.setdefault(index, str(name)) != str(name):
            other = f"{index} is {names[index]!r} and {str(name)!r}"
            return {}, (f"The column {columns.label_name!r} does not name the labels and is not used: {other}.",)
    return names, ()
