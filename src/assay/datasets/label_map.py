"""Other names for the labels of a data set, so that they meet those of a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from assay.core.errors import SpecError, nearest
from assay.core.spec import as_pairs
from assay.core.types import Example
from assay.datasets.dataset import Dataset

LabelMap = Mapping[Any, Any]  # label of the data -> label of the model; None: the example has no label


def with_label_map(data: Dataset, label_map: LabelMap | str, *others: Dataset) -> Dataset:
    """The data set with labels renamed; several may get one name, and those without a new name keep theirs.

    others: further splits, whose labels the map may name too.
    """
    pairs = as_pairs(label_map, "pos=positive,neg=negative")
    names = set().union(*map(label_names, (data, *others)))
    given = {str(old): None if new is None else str(new) for old, new in pairs.items()}
    if data.task == "regression":
        raise SpecError(f"{data.name or 'the data'} has scores, not labels; leave the label map out")
    for old in given:
        if old not in names:
            raise SpecError(f"{data.name or 'the data'} has no label {old!r} to map; {nearest(old, sorted(names))}")

    def renamed(example: Example) -> Example:
        name = None if example.label is None else str(label_name(example, data))
        return replace(example, label=None if name is None else given.get(name, name))

    examples = tuple(map(renamed, data))
    return replace(
        data, examples=examples, labels=tuple(sorted({str(e.label) for e in examples if e.label is not None}))
    )


def label_names(data: Dataset) -> set[str]:
    """The names of all labels of a data set, whether or not they occur."""
    return {str(label_name(example, data)) for example in data if example.label is not None} | set(data.labels or ())


def label_name(example: Example, data: Dataset) -> Any:
    """The label as the data set names it; a number where it has no name."""
    label = example.label
    return data.labels[label] if data.labels and isinstance(label, int) and 0 <= label < len(data.labels) else label
