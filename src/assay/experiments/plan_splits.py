"""The splits that a training or a fit of a plan learns from and validates on."""

from __future__ import annotations

import warnings

from assay.datasets.dataset import Dataset
from assay.experiments.file_cache import read_once
from assay.experiments.references import DataReference
from assay.training.splits import training_data


@read_once(maxsize=4)
def plan_splits(
    data: DataReference,
    split: str | None,
    validation: str | None,
    limit: int | None,
    validation_limit: int | None,
    seed: int,
) -> tuple[Dataset, Dataset]:
    """The split to learn from, and the one that chooses the checkpoint."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*holding out a tenth")  # documented in docs/runs.md
        return training_data(
            data.source,
            split,
            validation,
            columns=data.column_roles,
            label_map=data.label_names,
            limit=limit,
            validation_limit=validation_limit,
            seed=seed,
        )
