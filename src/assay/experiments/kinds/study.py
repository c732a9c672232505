"""A study of evaluation/ (sanity, adversarial, ...) on one model and a few examples: one job per slice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from assay.core.spec import Spec
from assay.evaluation import STUDIES
from assay.experiments.job import Job, JobContext, Row, StudyContext

SLICE = 64  # examples per record
SHOWN = ("original", "attacked", "curve")  # heat maps, which are no number
OWN = {"seed": "study_seed"}  # what the rows of a study call otherwise in tables: there `seed` is that of the training


@dataclass(frozen=True)
class Study:
    """What a study says of a model; `study` is its spec, such as "layer_randomisation(seeds=[0, 1])"."""

    study: str
    revision: ClassVar[int] = 1

    def __post_init__(self) -> None:
        _ = self.made  # a misspelt name is an error of the plan, not of its jobs

    @cached_property
    def made(self) -> Any:
        return STUDIES.make(self.study)

    def jobs(self, place: StudyContext) -> list[Job]:
        full = [str(Spec.of(self.made)), self.made.revision]
        spec = {"kind": "study", "revision": self.revision, **place.identity(), "study": full}
        return place.over_slices(self, spec, SLICE)

    def run(self, work: JobContext) -> list[Row]:
        rows: list[Row] = self.made.run(work.model(), [example for _, example in work.examples()], progress=False)
        return rows

    def tidy(self, rows: Any, job: Job) -> Iterator[Row]:
        yield from ({OWN.get(key, key): value for key, value in row.items() if key not in SHOWN} for row in rows)
