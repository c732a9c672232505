"""A job: the smallest unit of work that is run, stored and resumed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from assay.core.additions import code_named_in
from assay.core.errors import InputError
from assay.core.progress import Progress
from assay.core.types import Example
from assay.core.user_code import is_outside, source_hash
from assay.datasets.dataset import Dataset
from assay.experiments.references import AnyData, AnyModel, numbered
from assay.experiments.store import canonical, key_of
from assay.models.model import Model

if TYPE_CHECKING:
    from assay.experiments.worker import Worker

Row = dict[str, Any]


class Task(Protocol):
    """What a job does: a frozen dataclass of everything its work depends on."""

    revision: ClassVar[int]  # raised when its numbers change

    def run(self, context: JobContext) -> Any:
        """Do the work and return its rows as plain JSON, or a JobResult that adds provenance."""

    def tidy(self, rows: Any) -> Iterator[Row]:
        """Turn the rows of a record into tables: one number per row."""


@dataclass(frozen=True)
class JobResult:
    """The rows of a job, and provenance (such as seconds) that is stored but never compared."""

    rows: Any
    provenance: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Job:
    """A task with its key in the store, its place in the plan and the jobs it depends on."""

    task: Task
    spec: Mapping[str, Any]  # everything that changes the rows; its hash is the key
    tags: Mapping[str, Any]  # place in the plan, for people: study, model, data, method, ...
    model: AnyModel | None = None
    data: AnyData | None = None
    part: tuple[int, int] | None = None  # start and stop of its examples; None: all
    needs: tuple[str, ...] = ()  # keys of the jobs whose records and artefacts it reads
    skims: tuple[str, ...] = ()  # those of them whose kept files are all it reads
    artifact: bool = False  # writes a folder
    kept_files: tuple[str, ...] = ()  # patterns of files to keep when the folder is deleted
    keep: bool = False  # never delete the folder
    temporary: bool = False  # delete the folder even if no job of the plan needs it

    @cached_property
    def key(self) -> str:
        needs = {"needs": sorted(self.needs)} if self.needs else {}
        code = {"code": code} if (code := self._outside_code()) else {}
        return key_of({**self.spec, **needs, **code})

    def _outside_code(self) -> dict[str, str]:
        """The source of users' classes that the rows depend on: an edited one must not get old records."""
        task = type(self.task)
        own = {"task": source_hash(task)} if is_outside(task) else {}
        return {**own, **code_named_in(canonical(self.spec))}

    @property
    def group(self) -> str:
        """Jobs of one group share a model and should run on the same worker."""
        return self.key if self.model is None else self.model.group

    @property
    def name(self) -> str:
        part = "" if self.part is None else f" {self.part[0]}-{self.part[1]}"
        step = f", masked: {self.tags['masked']}" if "masked" in self.tags else ""
        names = [str(self.tags[tag]) for tag in ("study", "model", "data", "method") if self.tags.get(tag)]
        return " ".join(names) + step + part

    @property
    def size(self) -> int:
        """Number of examples."""
        start, stop = self.part or (0, len(self.data.load()) if self.data is not None else 0)
        return stop - start


@dataclass(frozen=True)
class JobContext:
    """What a running job may use: its model, examples, progress bar and folders."""

    job: Job
    worker: Worker
    bar: Progress
    output: Path | None = None  # folder of its artefact

    def model(self) -> Model:
        if self.job.model is None:
            raise RuntimeError(f"the job {self.job.name} has no model")
        return self.worker.model(self.job.model)

    def dataset(self) -> Dataset:
        """The whole data set; `examples` are the job's part of it."""
        if self.job.data is None:
            raise RuntimeError(f"the job {self.job.name} has no data")
        return self.job.data.load()

    def examples(self) -> list[tuple[int, Example]]:
        """The job's examples with their positions in the whole data set, which must be those of its key."""
        dataset, part, known = self.dataset(), self.job.part, self.job.spec.get("data")  # users' studies may lack it
        if part is not None and known is not None and dataset[slice(*part)].fingerprint != known:
            raise InputError(f"the data {dataset.name} were changed after the plan was read; run it again")
        return numbered(dataset, part)

    @property
    def folder(self) -> Path:
        """Where the job writes its artefact."""
        if self.output is None:
            raise RuntimeError(f"the job {self.job.name} writes no artefact")
        return self.output

    def artifact(self, key: str) -> Path:
        """The folder of a job that this one needs."""
        return self.worker.store.artifacts.path(key)

    def found(self, key: str) -> Path:
        """The same, or what was kept of the folder, which is enough for a job that only skims it."""
        return self.worker.store.artifacts.found(key)
