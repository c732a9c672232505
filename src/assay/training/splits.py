"""Training and validation data from one source: its own splits, or a tenth of the training examples held out."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from assay.core.errors import SpecError
from assay.core.rng import generator
from assay.datasets.dataset import Dataset
from assay.datasets.load import load_dataset

SHARE = 0.1


def training_data(
    source: Any,
    split: str | None = None,
    validation: str | None = None,
    *,
    columns: Mapping[str, str | None] | None = None,
    limit: int | None = None,
    validation_limit: int | None = None,
    seed: int = 0,
) -> tuple[Dataset, Dataset]:
    """The split "train" and the one called dev or validation beside it, unless other names are given.

    "task1_train" goes with "task1_dev". If there is none, a tenth of the training examples is held out, drawn by
    `seed`, and a warning says so.
    """
    train = _train(source, split, columns)
    name = validation or _beside(train.split or "train")
    try:
        held = load_dataset(source, split=name, columns=columns)
    except SpecError as error:
        if validation is not None:
            raise
        warnings.warn(f"{error}; so a tenth of the training examples is held out for validation", stacklevel=2)
        train, held = hold_out(train, seed)
    train = train if limit is None else train.take(limit, seed)
    return train, held if validation_limit is None else held.take(validation_limit, seed)


def hold_out(data: Dataset, seed: int = 0, share: float = SHARE) -> tuple[Dataset, Dataset]:
    """The data without and with a random share of it, both in the original order."""
    count = max(1, round(share * len(data)))
    if count >= len(data):
        raise SpecError(f"{data.name or 'the data'} has {len(data)} examples, too few to hold any out; name a split")
    held = np.zeros(len(data), bool)
    held[generator("hold out", seed, len(data)).permutation(len(data))[:count]] = True
    rest, out = ([e for e, h in zip(data, held, strict=True) if h == wanted] for wanted in (False, True))
    name = f"{data.split or 'all'}, held out"
    return replace(data, examples=tuple(rest)), replace(data, examples=tuple(out), split=name)


def _train(source: Any, split: str | None, columns: Mapping[str, str | None] | None) -> Dataset:
    if split is not None:
        return load_dataset(source, split=split, columns=columns)
    try:
        return load_dataset(source, split="train", columns=columns)
    except SpecError:
        return load_dataset(source, columns=columns)  # one file; or it says which splits there are


def _beside(split: str) -> str:
    return split.replace("train", "dev") if "train" in split else "dev"
