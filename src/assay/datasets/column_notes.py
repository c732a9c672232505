"""Notes on columns: texts that nobody reads, and pairs whose order is a guess."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from assay.core.cells import parse_cell
from assay.datasets.columns import ALIASES, EITHER_ORDER, FIXED_ORDER, ColumnMap, Columns, guess_columns, plain_name
from assay.datasets.images import named_as_image
from assay.datasets.splits import names_a_split

LOOKED_AT = 1000  # rows that show whether a column holds texts
LISTED = 5  # columns in a note
LABEL_NAMES = {plain_name(name) for name in (*ALIASES["label"], "gold", "true_label", "y_true", "ground_truth")}
SPLIT_NAMES = ("split", "set", "partition", "subset", "fold", "lewissplit")
WORDS = 4  # on average, in a column of texts; names and dates have fewer


def column_notes(rows: Sequence[Mapping[str, Any]], columns: Columns, given: ColumnMap) -> Iterator[str]:
    """What the user should know about the columns that were chosen; `given` are those that the user named."""
    unused = [name for name in text_columns(rows) if name not in _read(columns)]
    if unused and columns.text is not None:
        yield _unused_note(unused, columns)
    if _holds_lists(rows, columns.text):
        yield f"The texts are lists of tokens; to read them as such: {option({'tokens': columns.text or ''})}."
    if columns.text is not None and columns.text_pair is not None:
        yield from _order_notes(columns.text, columns.text_pair, guessed="text_pair" not in given)


def unread_labels(rows: Sequence[Mapping[str, Any]], columns: Columns, given: ColumnMap) -> Iterator[str]:
    """Columns that may hold the labels if none is known as such."""
    if columns.label or columns.score or {"label", "score"} & set(given):
        return
    names = [name for name in _class_columns(rows) if name not in _read(columns)]
    if names:
        which = "the column" if len(names) == 1 else "one of the columns"
        listed = ", ".join(map(repr, names[:LISTED])) + ", ..." * (len(names) > LISTED)
        yield f"No labels are read; if {which} {listed} holds them: {option({'label': names[0]})}."


def other_labels(rows: Sequence[Mapping[str, Any]], columns: Columns, given: ColumnMap) -> Iterator[str]:
    """Columns that are named like labels, too, and say something else."""
    read = columns.label
    if read is None or "label" in given:
        return
    names = [name for name in _class_columns(rows) if name != read and plain_name(name) in LABEL_NAMES]
    names = [name for name in names if not _is_renaming([(str(row.get(read)), str(row.get(name))) for row in rows])]
    if names:
        listed = ", ".join(map(repr, names[:LISTED]))
        use = option({"label": names[0]})
        yield f"The labels are read from {read!r}; those in {listed} differ; to read these: {use}."


def _is_renaming(pairs: Sequence[tuple[str, str]]) -> bool:
    """Whether the second value of each pair is another name for the first, such as positive for 1."""
    firsts, seconds = (len(set(values)) for values in zip(*pairs, strict=True))
    return firsts == seconds == len(set(pairs))


def split_notes(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A column of splits, all of which are read."""
    for name in (name for name in _class_columns(rows) if plain_name(name) in SPLIT_NAMES):
        splits = sorted({str(row[name]) for row in rows if names_a_split(str(row.get(name)))})
        if len(splits) > 1:
            listed = ", ".join(map(repr, splits[:LISTED]))
            yield f"The column {name!r} names {listed}, and the rows of all are read; keep those that you mean."


def _class_columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The columns of words, whole numbers or lists of words of which several rows share each, as with classes."""
    head = rows[:LOOKED_AT]
    names = dict.fromkeys(name for row in head for name in row)
    cells = {name: [row[name] for row in head if not _is_empty(row.get(name))] for name in names}
    classes = {name: list(map(str, values)) for name, values in cells.items() if all(map(_is_class, values))}
    return [name for name, values in classes.items() if 1 < len(set(values)) <= max(2, len(values) // 2)]


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, str | list) and not value)


def _is_class(value: Any) -> bool:
    if isinstance(value, str):
        return 0 < len(value.split()) < WORDS and value[0] not in "[{(<"
    return isinstance(value, int) or (isinstance(value, list) and all(isinstance(item, str) for item in value))


def no_text(rows: Sequence[Mapping[str, Any]], columns: Columns) -> str:
    """Why rows have no text: the cell is empty, or no column is known as one."""
    names = list(dict.fromkeys(str(name) for row in rows for name in row))
    expected = columns.text or columns.tokens or guess_columns(names).text
    if expected is not None:
        return f"there is no text: the column {expected!r} is empty; fill it in or leave the row out"
    if not names:
        return 'the rows are empty; give each a text, such as {"text": "a fine film"}'
    files = [name for name in names if named_as_image(str(rows[0].get(name)))]
    if files:
        listed = ", ".join(map(repr, names))
        return f"none of the columns {listed} is known as that of images; choose it with {option({'image': files[0]})}"
    candidates = text_columns(rows) or [name for name in names if isinstance(rows[0].get(name), str)] or names
    missing = f"no text or image among the columns {', '.join(map(repr, names))}"
    if any(map(_is_value, names)):
        return f"{missing}; the first row must name the columns: add one such as text,label"
    return f"{missing}; choose one, such as {option({'text': candidates[0]})}"


def _is_value(name: str) -> bool:
    """Whether a column's name looks like a value: a number or a whole sentence."""
    return len(name.split()) >= WORDS or name.strip().replace(".", "", 1).isdigit()


def _holds_lists(rows: Sequence[Mapping[str, Any]], column: str | None) -> bool:
    texts = [str(row[column]) for row in islice(rows, LOOKED_AT) if column is not None and row.get(column)]
    lists = [text for text in texts if text[:1] == "[" and isinstance(parse_cell(text), list)]
    return 2 * len(lists) > len(texts)


def option(columns: Mapping[str, str]) -> str:
    """The option that chooses these columns, ready for a shell."""
    return "--columns " + shlex.quote(",".join(f"{role}={name}" for role, name in columns.items()))


def text_columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The columns of several words that are not the same in every row, longest texts first."""
    values: dict[str, list[str]] = {}
    for row in islice(rows, LOOKED_AT):
        for name, value in row.items():
            if isinstance(value, str) and value.strip():
                values.setdefault(name, []).append(value)
    lengths = {name: sum(len(text.split()) for text in texts) / len(texts) for name, texts in values.items()}
    varied = [name for name, texts in values.items() if len(texts) == 1 or len(set(texts)) > 1]
    prose = [name for name in varied if lengths[name] >= WORDS and not _is_data(values[name])]
    return sorted(prose, key=lambda name: -lengths[name])


def _is_data(texts: Sequence[str]) -> bool:
    """Lists, objects and trees written as text."""
    return sum(text.lstrip()[0] in "[{(<" for text in texts) > len(texts) / 2


def _read(columns: Columns) -> set[str]:
    return {*columns.used, columns.annotator_labels or "", columns.label_name or "", ""}


def _unused_note(unused: Sequence[str], columns: Columns) -> str:
    names = ", ".join(map(repr, unused))
    text = columns.text or ""
    if columns.text_pair is None:
        use = f"to read it as the second text: {option({'text': text, 'text_pair': unused[0]})}"
    else:
        use = f"to read it as the text: {option({'text': unused[0]})}"
    verb = "holds text that is" if len(unused) == 1 else "hold texts that are"
    return f"The column{'s' * (len(unused) > 1)} {names} {verb} not used (text: {text!r}); {use}."


def _order_notes(first: str, second: str, *, guessed: bool) -> Iterator[str]:
    names = plain_name(first), plain_name(second)
    swap = option({"text": second, "text_pair": first})
    if guessed and names in EITHER_ORDER:
        yield f"The order of the texts, {first!r} before {second!r}, is a guess; for the other order: {swap}."
    if names[::-1] in FIXED_ORDER:
        yield f"The text {first!r} is read before {second!r}; models usually expect the other order: {swap}."
