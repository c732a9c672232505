"""The results of a plan as tidy rows, for tables and figures."""

from __future__ import annotations

from pathlib import Path

from assay.experiments.job import Row
from assay.experiments.plan import Plan, open_plan
from assay.experiments.references import AnyModel, TrainedModel
from assay.experiments.store import Store
from assay.experiments.study import tidy_rows
from assay.models.load import load_without_weights
from assay.models.model import Model


def results(plan: str | Path | Plan, store: str | Path | Store | None = None) -> list[Row]:
    """One row per number: study, model, data, then what the study adds. Unfinished jobs have no rows.

    An evaluation adds method, metric, example and value; a training adds metric and value.
    """
    opened, store = open_plan(plan, store)
    return [*training_rows(opened, store), *tidy_rows(opened.cells, store)]


def training_rows(plan: Plan, store: Store) -> list[Row]:
    """One row per validation score of every finished training."""
    records = [(job, store.get(job.key)) for job in plan.trainings]
    return [{**job.tags, **row} for job, record in records if record is not None for row in job.task.tidy(record.rows)]


def open_model(reference: AnyModel, store: Store) -> Model:
    """A cell's model for a page. Of a trained model whose weights were deleted, the rest: it encodes, but runs not."""
    artifacts = store.artifacts
    if not isinstance(reference, TrainedModel) or artifacts.has(reference.key):
        return reference.open(artifacts)
    record = store.get(reference.key)
    fingerprint = "" if record is None else record.rows["model"]["fingerprint"]
    model = load_without_weights(artifacts.kept_files(reference.key), fingerprint)
    model.name = reference.name
    return model
