"""Training and validation data from one source: its splits, or a held-out tenth of the training examples."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from assay.core.errors import SpecError
from assay.core.rng import generator
from assay.datasets.dataset import Dataset
from assay.datasets.label_map import LabelMap, with_label_map
from assay.datasets.load import load_dataset

VALIDATION_SHARE = 0.1


def training_data(
    source: Any,
    split: str | None = None,
    validation: str | None = None,
    *,
    columns: Mapping[str, str | None] | None = None,
    label_map: LabelMap | None = None,
    limit: int | None = None,
    validation_limit: int | None = None,
    seed: int = 0,
) -> tuple[Dataset, Dataset]:
    """Load the training split ("train") and the matching validation split (dev or validation), unless others are named.

    "task1_train" matches "task1_dev". Without a validation split, a tenth of the training examples, drawn with `seed`,
    is held out with a warning.
    """
    train = _training_split(source, split, columns)
    name = validation or _validation_name(train.split or "train")
    try:
        held_out = load_dataset(source, split=name, columns=columns)
    except SpecError as error:
        if validation is not None:
            raise
        warnings.warn(f"{error}; holding out a tenth of the training examples for validation", stacklevel=2)
        train, held_out = hold_out(train, seed)
    if label_map is not None:
        train, held_out = with_label_map(train, label_map, held_out), with_label_map(held_out, label_map, train)
    train = train if limit is None else train.take(limit, seed)
    return train, held_out if validation_limit is None else held_out.take(validation_limit, seed)


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


def _training_split(source: Any, split: str | None, columns: Mapping[str, str | None] | None) -> Dataset:
    if split is not None:
        return load_dataset(source, split=split, columns=columns)
    try:
        return load_dataset(source, split="train", columns=columns)
    except SpecError:
        return load_dataset(source, columns=columns)  # a single file, or an error that lists the splits


def _validation_name(split: str) -> str:
    return split.replace("train", "dev") if "train" in split else "dev"
