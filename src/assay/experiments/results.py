"""The results of a plan as tidy rows, for tables and figures."""

from __future__ import annotations

from assay.experiments.job import Row
from assay.experiments.plan import Plan
from assay.experiments.references import AnyModel, TrainedModel
from assay.experiments.store import Store
from assay.experiments.study import tidied, tidy_rows
from assay.models.load import load_without_weights
from assay.models.model import Model


def tidy_results(plan: Plan, store: Store) -> list[Row]:
    """One row per number of the finished jobs of a plan; see `assay.results`."""
    return [*training_rows(plan, store), *tidied(plan.fits, store), *tidy_rows(plan.cells, store)]


def training_rows(plan: Plan, store: Store) -> list[Row]:
    """One row per validation score of every finished training."""
    return tidied(plan.trainings, store)


def open_model(reference: AnyModel, store: Store) -> Model:
    """The model of a cell, for a page. Without its weights if these were deleted: it can encode, but not predict."""
    artifacts = store.artifacts
    if not isinstance(reference, TrainedModel) or artifacts.has(reference.key):
        return reference.open(artifacts)
    record = store.get(reference.key)
    fingerprint = "" if record is None else record.rows["model"]["fingerprint"]
    model = load_without_weights(artifacts.kept_files(reference.key), fingerprint)
    model.name = reference.name
    return model
