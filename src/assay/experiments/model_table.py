"""The trained models of a plan as a table: size, depth, base and validation scores."""

from __future__ import annotations

from itertools import chain
from typing import Any

from assay.experiments.job import Job, Row
from assay.experiments.plan import Plan
from assay.experiments.store import Store
from assay.models.load import load_without_weights
from assay.models.model import Model
from assay.models.readout import AssayHead
from assay.training.scratch import is_scratch


def model_table(plan: Plan, store: Store) -> list[Row]:
    """One row per finished training: its tags, parameters, layers, pretrained or not, validation scores.

    Counts come from the configuration, which is kept when weights are deleted.
    """
    return [row for job in plan.trainings if (row := _row(job, store)) is not None]


def _row(job: Job, store: Store) -> Row | None:
    record = store.get(job.key)
    if record is None:
        return None
    scores = {f"validation_{name}": value for name, value in record.rows["validation"].items()}
    tags = {key: value for key, value in job.tags.items() if key != "study"}
    pretrained = not is_scratch(str(tags.get("base", "")))
    return {**tags, **_counts(model_without_weights(job.key, store)), "pretrained": pretrained, **scores}


def model_without_weights(key: str, store: Store) -> Model | None:
    """A trained model that can encode and knows its shape; None if its files are gone."""
    folders = (store.artifacts.path(key), store.artifacts.kept_files(key))
    folder = next((folder for folder in folders if (folder / "config.json").is_file()), None)
    return None if folder is None else load_without_weights(folder, "")


def _counts(model: Model | None) -> dict[str, Any]:
    if model is None:
        return {"parameters": None, "layers": None}
    head = model.readout.head.parameters() if isinstance(model.readout, AssayHead) else ()
    return {"parameters": sum(p.numel() for p in chain(model.hf.parameters(), head)), "layers": model.n_blocks}
