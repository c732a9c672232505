"""Engines: how the jobs of a plan are run. One file each."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Protocol

from assay.core.catalog import Catalog
from assay.experiments.job import Job
from assay.experiments.scheduler import Scheduler
from assay.experiments.worker import Outcome

ENGINES = Catalog("assay.experiments.engines", "engine")
Ended = Callable[[Job, Outcome], None]


class Engine(Protocol):
    """Takes jobs from the scheduler until none is left, and reports how each ended."""

    def run(self, scheduler: Scheduler, ended: Ended) -> None: ...


def make_engine(name: str, *, workers: int | None, address: str | None, threads: int | None) -> Engine:
    engine: Engine = ENGINES.get(name)(workers=workers, address=address, threads=threads)
    return engine


def cores() -> int:
    """Number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def unusable_options(name: str, given: dict[str, Any], why: str) -> str:
    """The error message for options that an engine cannot use."""
    options = ", ".join(f"--{key} {value}" for key, value in given.items())
    return f"{options}: the {name} engine {why}"
