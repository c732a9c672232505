"""Training and validation data from one source: its splits, or a held-out tenth of the training examples."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from assay.core.errors import DataWarning, SpecError
from assay.core.rng import generator
from assay.datasets.columns import ColumnMap
from assay.datasets.dataset import Dataset
from assay.datasets.label_map import LabelMap, with_label_map
from assay.datasets.load import load_dataset
from assay.datasets.splits import NoSplitError, is_held_out
from assay.datasets.text_notes import is_common, share

VALIDATION_SHARE = 0.1


def training_data(
    source: Any,
    split: str | None = None,
    validation: str | None = None,
    *,
    columns: ColumnMap | str | None = None,
    label_map: LabelMap | str | None = None,
    limit: int | None = None,
    validation_limit: int | None = None,
    seed: int = 0,
) -> tuple[Dataset, Dataset]:
    """Load the training split ("train") and the matching validation split (dev or validation), unless others are named.

    "task1_train" matches "task1_dev". Without a validation split, a tenth of the training examples, drawn with `seed`,
    is held out with a warning.
    """
    source = list(source) if isinstance(source, Iterator) else source  # a stream can be read only once
    train = _training_split(source, split, columns)
    name = validation or _validation_name(train.split or "train")
    try:
        held_out = load_dataset(source, split=name, columns=columns)
    except NoSplitError:
        if validation is not None:
            raise
        train, held_out = hold_out(train, seed)
        warnings.warn(
            f"{train.name or 'the data'} has no validation split: holding out a tenth of the training examples, "
            f"{len(held_out):,} of {len(train) + len(held_out):,}",
            stacklevel=2,
        )
    if label_map is not None:
        train, held_out = with_label_map(train, label_map, held_out), with_label_map(held_out, label_map, train)
    train = train if limit is None else train.take(limit, seed)
    held_out = held_out if validation_limit is None else held_out.take(validation_limit, seed)
    return train, without_training(held_out, train)


def without_training(data: Dataset, train: Dataset) -> Dataset:
    """Data to judge a model by, with a note if they contain inputs that it was trained on."""
    seen = {(example.text, example.text_pair) for example in train if example.text is not None}
    shared = sum((example.text, example.text_pair) in seen for example in data)
    if not is_common(shared, len(data)):
        return data
    note = (
        f"{share(shared, len(data))} inputs to judge the model by ({data.split or 'held out'}) are also among those it "
        "is trained on; scores on them are too good."
    )
    warnings.warn(note, DataWarning, stacklevel=2)
    return replace(data, notes=(*data.notes, note))


def hold_out(data: Dataset, seed: int = 0, share: float = VALIDATION_SHARE) -> tuple[Dataset, Dataset]:
    """Split off a random share: (rest, held out), both in the original order."""
    count = max(1, round(share * len(data)))
    if count >= len(data):
        raise SpecError(
            f"{data.name or 'the data'} has {len(data)} examples, too few for a validation set; name a validation split"
        )
    is_held = np.zeros(len(data), bool)
    is_held[generator("hold out", seed, len(data)).permutation(len(data))[:count]] = True
    rest, held = ([e for e, h in zip(data, is_held, strict=True) if h == wanted] for wanted in (False, True))
    name = f"{data.split or 'all'}, held out"
    return replace(data, examples=tuple(rest)), replace(data, examples=tuple(held), split=name)


def _training_split(source: Any, split: str | None, columns: ColumnMap | str | None) -> Dataset:
    if split is not None:
        return load_dataset(source, split=split, columns=columns)
    try:
        return load_dataset(source, split="train", columns=columns)
    except NoSplitError:
        train = load_dataset(source, columns=columns)  # a single file, or an error that lists the splits
    if train.split is not None and is_held_out(train.split):
        warnings.warn(f"The model is trained on the split {train.split!r} of {train.name}.", DataWarning, stacklevel=2)
    return train


def _validation_name(split: str) -> str:
    return split.replace("train", "dev") if "train" in split else "dev"
