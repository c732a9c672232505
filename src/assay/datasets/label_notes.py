"""Notes on labels: values that may be ids, scores, lists or empty cells, names that mean the same, labels in texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from assay.core.types import Example
from assay.datasets.column_notes import option
from assay.datasets.columns import plain_name
from assay.datasets.labels import Inferred
from assay.datasets.text_notes import EMPTY_WORDS, share

FEW = 10  # examples below which the number of different labels says nothing
MANY = 50  # different whole numbers that look like scores
PUNCTUATION = ".,:;!?'\""  # at the ends of a label's name


def label_notes(
    given: Sequence[Any], inferred: Inferred, column: str | None, *, named: bool, guessed: str | None
) -> Iterator[str]:
    """What the user should know about labels.

    given: as in the file; named: whether it names its integer labels; guessed: a column taken for scores by its name.
    """
    labels, names, task = inferred
    present = [label for label in labels if label is not None]
    if not present:
        return
    if len(present) < len(labels):
        yield f"{share(len(labels) - len(present), len(labels))} examples have no label."
    if task == "classification" and names is not None:
        yield from _class_notes(given, present, names, column or "label", named=named)
    elif guessed is not None and len(set(present)) <= FEW and all(float(label).is_integer() for label in present):
        yield f"The whole numbers in {guessed!r} are read as scores; if they are classes: {option({'label': guessed})}."


def _class_notes(
    given: Sequence[Any], labels: Sequence[Any], names: Sequence[str], column: str, *, named: bool
) -> Iterator[str]:
    numbers = [label for label in labels if isinstance(label, int)]
    distinct = len(set(labels))
    as_score = f"if they are scores: {option({'score': column})}"
    if any(_has_fraction(value) for value in given):
        yield f"Labels such as {next(v for v in given if _has_fraction(v))!r} are read as classes; {as_score}."
    if len(labels) >= FEW and 2 * distinct > len(labels):
        yield (
            f"The column {column!r} has {distinct:,} different labels for {len(labels):,} examples; "
            "if they are ids or texts, choose another with --columns label=COLUMN."
        )
    elif numbers and not named and distinct > MANY:
        yield f"The {distinct} different whole numbers in {column!r} are read as classes; {as_score}."
    elif numbers and not named and min(numbers) > 0 and distinct > 1:
        yield (
            f"The labels {min(numbers)} to {max(numbers)} are read as indices of classes, which count from 0; "
            f"if {min(numbers)} is the first class, subtract {min(numbers)}."
        )
    if len(labels) >= FEW and distinct == 1:
        yield f"All {len(labels):,} labels are {_name(labels[0], names)!r}; always predicting it is always right."
    yield from _name_notes(names)
    yield from _joined_files(labels, names)
    words = [value for value in given if isinstance(value, str) and not _is_number(value)]
    figures = [value for value in given if _is_number(value)]
    if words and figures:
        yield f"The labels are numbers ({figures[0]!r}) and words ({words[0]!r}) mixed; each is a class of its own."


def _name_notes(names: Sequence[str]) -> Iterator[str]:
    same: dict[str, list[str]] = {}
    for name in names:
        same.setdefault(plain_name(name).strip(PUNCTUATION), []).append(name)
    for variants in same.values():
        if len(variants) > 1:
            how = "case" if len({name.casefold() for name in variants}) == 1 else "case, blanks or punctuation"
            yield f"The labels {' and '.join(map(repr, variants))} differ only in {how} and are classes of their own."
    empty = [name for name in names if name in EMPTY_WORDS]
    if empty:
        yield f"The label {empty[0]!r} is read as a class; if it is an empty cell, leave the cell empty."
    lists = {name: parts for name in names if len(parts := re.split(r"\s*[,;|]\s*", name)) > 1}
    if several := [name for name, parts in lists.items() if set(parts) & set(names)]:
        yield f"The label {several[0]!r} is read as one class; if it is several labels, keep one, or leave the row out."
    if decimal := [name for name in names if re.fullmatch(r"-?\d+,\d+", name)]:
        yield f"Labels such as {decimal[0]!r} are read as classes; if they are scores, write them with a point."


def _joined_files(labels: Sequence[Any], names: Sequence[str]) -> Iterator[str]:
    """Two data sets in one file: from some row on there are only other labels. In sorted files each has one run."""
    if len(set(labels)) > MANY:
        return
    last = {label: i for i, label in enumerate(labels)}
    reach = -1  # the last row of any label so far
    for i, label in enumerate(labels[:-1]):
        reach = max(reach, last[label])
        if reach > i or not (_is_mixed(labels[: i + 1]) and _is_mixed(labels[i + 1 :])):
            continue
        parts = (dict.fromkeys(part) for part in (labels[: i + 1], labels[i + 1 :]))
        before, after = (", ".join(repr(_name(label, names)) for label in part) for part in parts)
        yield (
            f"The first {i + 1:,} labels are {before}, all later ones {after}; if two data sets were joined, give "
            "their labels common names with --label-map."
        )
        return


def _is_mixed(labels: Sequence[Any]) -> bool:
    distinct = len(set(labels))
    return distinct > 1 and sum(1 for _ in groupby(labels)) >= 2 * distinct


def labels_in_texts(examples: Sequence[Example], names: Sequence[str]) -> Iterator[str]:
    """Texts that begin or end with their own label, as prompts do: a model may read it there."""
    labelled = [(e, plain_name(_name(e.label, names))) for e in examples if e.text is not None and e.label is not None]
    told = [name for example, name in labelled if name.isalpha() and len(name) > 1 and _tells(example, name)]
    if 10 * len(told) > 9 * len(labelled):  # stories often end with the place that is asked for
        yield (
            f"{share(len(told), len(labelled))} texts begin or end with their own label, such as {told[0]!r}: "
            "a model can read it there."
        )


def _tells(example: Example, name: str) -> bool:
    ends = [text.split(None, 1)[:1] + text.rsplit(None, 1)[-1:] for text in (example.text, example.text_pair) if text]
    return any(name in re.split(r"[\W_]+", word.casefold()) for words in ends for word in words)


def _name(label: Any, names: Sequence[str]) -> str:
    return names[label] if isinstance(label, int) else str(label)


def _has_fraction(value: Any) -> bool:
    return _is_number(value) and ("." in str(value) or "e" in str(value).lower())


def _is_number(value: Any) -> bool:
    if isinstance(value, str) and not any(map(str.isdigit, value)):
        return False  # float() takes nan and infinity
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return not isinstance(value, bool)
