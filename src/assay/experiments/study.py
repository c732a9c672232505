"""A study: a question about models and data. It makes jobs, and owns the tables, pages and figures of their results.

Every study is one folder under `studies/`; its class is defined in that folder's `study.py`. Nothing here or in plans
knows a particular study.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

from assay.core.additions import Additions
from assay.core.catalog import Catalog
from assay.core.form import why_not_callable, why_not_frozen
from assay.core.names import shareable
from assay.experiments.job import Job, Row, Task
from assay.experiments.preset import PresetUse
from assay.experiments.references import AnyData, AnyModel, ExternalModel, InMemoryModel
from assay.experiments.store import Record, Store
from assay.experiments.worker import Worker
from assay.models.model import Model

STUDIES = Catalog(
    "assay.studies",
    "study",
    entry="study",
    added=Additions("study", "assay.studies", "assay.experiments.study:why_not_a_study"),
)
EXAMPLES_PER_JOB = 64


@dataclass(frozen=True)
class StudyContext:
    """One model and one data set that a study makes jobs for."""

    model: AnyModel
    data: AnyData
    tags: Mapping[str, Any]
    worker: Worker
    fits: tuple[str, ...] = ()  # keys of the jobs that fit the explainers among its methods

    def loaded_model(self) -> Model | None:
        """The model, or None if it is trained only when the plan runs."""
        return self.worker.model(self.model) if isinstance(self.model, ExternalModel | InMemoryModel) else None

    def identity(self) -> dict[str, Any]:
        """The model's part of a job's spec: its weights and labels, or the key of its training."""
        model = self.loaded_model()
        if model is None:
            return {"model": self.model.needs[0], "labels": None, "task": None, "prompt": None}
        return model.identity

    def jobs_per_slice(self, task: Task, spec: Mapping[str, Any]) -> list[Job]:
        """One job per slice of examples, with the fingerprint of its examples in its spec."""
        data = self.data.load()
        starts = range(0, len(data), EXAMPLES_PER_JOB)
        parts = [(start, min(start + EXAMPLES_PER_JOB, len(data))) for start in starts]
        return [
            Job(task, {**spec, "data": data[a:b].fingerprint}, self.tags, self.model, self.data, (a, b), self.needs)
            for a, b in parts
        ]

    @property
    def needs(self) -> tuple[str, ...]:
        return (*self.model.needs, *self.fits)


@dataclass(frozen=True)
class StudyCell:
    """A study on one model and one data set."""

    name: str  # of the study in the plan
    study: Study
    model: AnyModel
    data: AnyData
    jobs: tuple[Job, ...]
    preset: PresetUse | None = None  # that the settings come from

    @property
    def title(self) -> str:
        return f"{shareable(self.model.name)} on {shareable(self.data.name)}"

    @property
    def tags(self) -> Mapping[str, Any]:
        return self.jobs[0].tags if self.jobs else {}

    def records(self, store: Store) -> list[Record] | None:
        """The records of all its jobs, or None while one is missing."""
        records = [store.get(job.key) for job in self.jobs]
        return None if None in records else [record for record in records if record is not None]


@dataclass(frozen=True)
class ReportContext:
    """What a study needs to write its part of a plan's report."""

    cells: Sequence[StudyCell]
    store: Store
    rows: Sequence[Row]  # the tidy rows of the cells
    models: Sequence[Row]  # trained models with their sizes (model_table.py)
    methods: Sequence[str]  # all methods of the report in the order of their colours
    figures: Path | None  # folder for figures; None if the extra `plots` is not installed
    ending: str = "png"


@dataclass(frozen=True)
class Page:
    """A page of a report."""

    title: str
    html: str


@dataclass(frozen=True)
class StudyReport:
    """A study's part of a report, as far as its jobs are finished."""

    table: list[Row] = field(default_factory=list)
    pages: list[Page] = field(default_factory=list)
    figures: list[Path] = field(default_factory=list)


class Study(Protocol):
    """The settings of a study: a frozen dataclass whose fields are what a plan, a call or a command may set."""

    needs_model_files: ClassVar[bool]  # its pages need the configuration and tokenizer of trained models

    def jobs(self, context: StudyContext) -> list[Job]:
        """The jobs for one model and one data set, each after those it needs."""

    def report(self, context: ReportContext) -> StudyReport:
        """The table, pages and figures of all its cells in a plan."""


def why_not_a_study(candidate: type) -> str | None:
    """Return the reason why a class cannot be used as a study; None if it can."""
    verbs = {"jobs": ("context",), "report": ("context",)}
    if (reason := why_not_frozen(candidate) or why_not_callable(candidate, verbs)) is not None:
        return reason
    if not isinstance(getattr(candidate, "needs_model_files", None), bool):
        return "Add to its class `needs_model_files: ClassVar[bool] = False`, or True if its pages open the model."
    return None


def tidy_rows(cells: Sequence[StudyCell], store: Store) -> list[Row]:
    """Every number of the finished jobs of some cells, with the tags of its job."""
    return tidied([job for cell in cells for job in cell.jobs], store)


def tidied(jobs: Sequence[Job], store: Store) -> list[Row]:
    """The rows of finished jobs as a table, with the tags of each job."""
    rows: list[Row] = []
    for job in jobs:
        if (record := store.get(job.key)) is not None:
            with store.expecting_form(job.key):
                rows += [{**job.tags, **row} for row in job.task.tidy(record.rows)]
    return rows
