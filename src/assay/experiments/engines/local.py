"""The local engine: one job after the other in this process."""

from __future__ import annotations

from dataclasses import dataclass

from assay.core.errors import SpecError
from assay.experiments.engines import Ended, unusable_options
from assay.experiments.scheduler import Scheduler
from assay.experiments.worker import Worker, threads


@dataclass(frozen=True)
class Local:
    """A loop in this process."""

    workers: int | None = None
    address: str | None = None
    threads: int | None = None

    def __post_init__(self) -> None:
        given = {k: v for k, v in (("workers", self.workers), ("address", self.address)) if v not in (None, 1)}
        if given:
            raise SpecError(unusable_options("local", given, "is one worker in this process; use --engine ray"))

    def run(self, scheduler: Scheduler, ended: Ended) -> None:
        worker, held = Worker(scheduler.store), None
        with threads(self.threads):
            while (job := scheduler.take(held)) is not None:
                held = job.group
                ended(job, worker.execute(job))
