"""A job: the smallest thing that is run, stored and repeated, with all that says what it is and what it needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from assay.core.progress import Progress
from assay.core.types import Example
from assay.datasets.dataset import Dataset
from assay.experiments.references import AnyData, AnyModel, ExternalModel, InMemoryModel, numbered
from assay.experiments.store import key_of
from assay.models.model import Model

if TYPE_CHECKING:
    from assay.experiments.worker import Worker

Row = dict[str, Any]


class Kind(Protocol):
    """A kind of job: a frozen dataclass whose fields are what a plan may say. One file in kinds/ each."""

    revision: ClassVar[int]  # raised when its numbers change

    def jobs(self, place: StudyContext) -> list[Job]:
        """Its jobs on one model and one data set; a job must come after those it needs."""

    def run(self, work: JobContext) -> Any:
        """The rows of one job: plain JSON. `Rows` where there is something to say that is not compared."""

    def tidy(self, rows: Any, job: Job) -> Iterator[Row]:
        """The rows of a record for tables and figures: one number per row."""


@dataclass(frozen=True)
class JobResult:
    """What a job found, and what belongs to its provenance (seconds)."""

    rows: Any
    provenance: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Job:
    """One record to be."""

    kind: Kind
    spec: Mapping[str, Any]  # everything that changes the rows
    at: Mapping[str, Any]  # where it stands in the plan, for people: study, model, data, part
    model: AnyModel | None = None
    data: AnyData | None = None
    part: tuple[int, int] | None = None  # examples from, to; None: all
    needs: tuple[str, ...] = ()  # keys of jobs whose record and artefact must be there
    artifact: bool = False  # leaves a folder
    kept_files: tuple[str, ...] = ()  # files to keep when the folder is deleted
    keep: bool = False  # the folder is never deleted
    temporary: bool = False  # the folder is deleted also if no job of the plan needs it

    @cached_property
    def key(self) -> str:
        return key_of({**self.spec, "needs": sorted(self.needs)} if self.needs else self.spec)

    @property
    def group(self) -> str:
        """Jobs of one group share a model, so one worker should have them."""
        return self.key if self.model is None else self.model.group

    @property
    def name(self) -> str:
        part = "" if self.part is None else f" {self.part[0]}-{self.part[1]}"
        step = f", masked: {self.at['masked']}" if "masked" in self.at else ""
        return " ".join(str(self.at[k]) for k in ("study", "model", "data", "method") if self.at.get(k)) + step + part


@dataclass(frozen=True)
class StudyContext:
    """One model and one data set of a study, where its jobs are made."""

    model: AnyModel
    data: AnyData
    at: Mapping[str, Any]
    bench: Worker

    def known(self) -> Model | None:
        """The model, unless it is trained only when the plan runs."""
        return self.bench.model(self.model) if isinstance(self.model, ExternalModel | InMemoryModel) else None

    def identity(self) -> dict[str, Any]:
        """The model's part of a job's spec: its weights and labels, or the key of its training."""
        model = self.known()
        if model is None:
            return {"model": self.model.needs[0], "labels": None, "task": None, "prompt": None}
        return model.identity

    def job(self, kind: Kind, spec: Mapping[str, Any], part: tuple[int, int] | None = None, **more: Any) -> Job:
        needs = (*self.model.needs, *more.pop("needs", ()))
        return Job(kind, spec, self.at, self.model, self.data, part, needs, **more)

    def over_slices(self, kind: Kind, spec: Mapping[str, Any], size: int | None) -> list[Job]:
        """A job per `size` examples (None: one job for all), each with the fingerprint of its examples in its spec."""
        data = self.data.load()
        step = size or max(1, len(data))
        parts = [(start, min(start + step, len(data))) for start in range(0, len(data), step)]
        return [self.job(kind, {**spec, "data": data[a:b].fingerprint}, (a, b)) for a, b in parts]


@dataclass(frozen=True)
class JobContext:
    """A job being done: what it may use."""

    job: Job
    bench: Worker
    bar: Progress
    folder: Path | None = None  # where its artefact is written

    def model(self) -> Model:
        if self.job.model is None:
            raise RuntimeError(f"{self.job.name} has no model")
        return self.bench.model(self.job.model)

    def dataset(self) -> Dataset:
        """The whole data set that the job's slice is of."""
        if self.job.data is None:
            raise RuntimeError(f"{self.job.name} has no data")
        return self.job.data.load()

    def examples(self) -> list[tuple[int, Example]]:
        """The job's own examples with their places in the whole."""
        return numbered(self.dataset(), self.job.part)

    def artifact(self, key: str) -> Path:
        """The folder of a job that this one needs."""
        return self.bench.store.artifacts.path(key)
