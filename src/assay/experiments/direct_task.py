"""A task for studies that compute rows directly from a model and some examples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from assay.core.progress import Progress
from assay.core.spec import Spec
from assay.core.types import Example
from assay.experiments.job import Job, JobContext, Row
from assay.experiments.study import StudyContext
from assay.models.model import Model


class RowMaker(Protocol):
    """Settings with a `run` that gives one row of numbers per example, method, ..."""

    revision: ClassVar[int]  # raised when its numbers change

    def run(self, model: Model, examples: Sequence[Example], bar: Progress | None = None) -> list[Row]: ...


@dataclass(frozen=True)
class DirectTask:
    """Runs the study on a slice of the data."""

    settings: RowMaker
    not_numbers: tuple[str, ...] = ()  # columns such as heat maps, which tables leave out
    revision: ClassVar[int] = 1

    def run(self, context: JobContext) -> list[Row]:
        return self.settings.run(context.model(), [example for _, example in context.examples()], context.bar)

    def tidy(self, rows: Any) -> Iterator[Row]:
        """`seed` is the training's in all tables; the study's own is `study_seed`."""
        for row in rows:
            numbers = {name: value for name, value in row.items() if name not in self.not_numbers}
            yield {"study_seed" if name == "seed" else name: value for name, value in numbers.items()}


def direct_jobs(kind: str, task: DirectTask, context: StudyContext) -> list[Job]:
    """One job per slice, keyed by the model and all settings."""
    settings, revision = str(Spec.in_key(task.settings)), [task.revision, task.settings.revision]
    return context.jobs_per_slice(
        task, {"kind": kind, "revision": revision, **context.identity(), "settings": settings}
    )
