"""What a plan found, as tidy rows for tables and figures, and as evaluations for pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from assay.experiments.job import Job, Row
from assay.experiments.plan import Plan, StudyCell, read_plan
from assay.experiments.references import TrainedModel
from assay.experiments.store import Record, Store, default_folder
from assay.models.load import load_without_weights
from assay.models.model import Model
from assay.studies.evaluate.evaluation import Evaluation, joined
from assay.studies.evaluate.study import Evaluate


def results(plan: str | Path | Plan, store: str | Path | Store | None = None) -> list[Row]:
    """One row per number: study, model and its place in the grid, data, then what the kind says of it.

    An evaluation adds method, metric, example and value; a training metric and value. Jobs that are not done have none.
    """
    kept = store if isinstance(store, Store) else Store(Path(store) if store is not None else default_folder())
    found = plan if isinstance(plan, Plan) else read_plan(plan, kept)
    jobs = [*found.trainings, *(job for cell in found.cells for job in cell.jobs)]
    return [row for job in jobs for row in _rows(job, kept)]


def _rows(job: Job, store: Store) -> Iterator[Row]:
    record = store.get(job.key)
    if record is not None:
        for row in job.kind.tidy(record.rows, job):
            yield {**job.at, **row}


def records(cell: StudyCell, store: Store) -> list[Record] | None:
    """All records of a cell, or None while one is missing."""
    found = [record for job in cell.jobs if (record := store.get(job.key)) is not None]
    return found if len(found) == len(cell.jobs) else None


def shown(plan: Plan) -> set[str]:
    """The models trained in a plan that a page is about, by key: it needs all of them but the weights."""
    return {
        cell.model.key
        for cell in plan.cells
        if isinstance(cell.kind, Evaluate) and isinstance(cell.model, TrainedModel)
    }


def evaluation(cell: StudyCell, store: Store) -> Evaluation | None:
    """A finished evaluation as `assay.evaluate` gives it; None while it is not finished or of another kind."""
    if not isinstance(cell.kind, Evaluate):
        return None
    found = records(cell, store)
    return None if found is None else joined(cell.kind, _model(cell, store), cell.data.load(), found)


def _model(cell: StudyCell, store: Store) -> Model:
    """The cell's model; of a trained one that was deleted, what remains: all but the weights."""
    model, artifacts = cell.model, store.artifacts
    if not isinstance(model, TrainedModel) or artifacts.has(model.key):
        return model.open(artifacts)
    record = store.get(model.key)
    fingerprint = "" if record is None else record.rows["model"]["fingerprint"]
    found = load_without_weights(artifacts.kept_files(model.key), fingerprint)
    found.name = model.name
    return found
