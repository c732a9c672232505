"""The Ray engine: so many workers on this machine or on a cluster, each with one model at a time."""

from __future__ import annotations

import os
import re
import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from assay.core.errors import AssayError, SpecError
from assay.experiments.engines import Ended, cores
from assay.experiments.job import Job
from assay.experiments.scheduler import Scheduler
from assay.experiments.store import Store
from assay.experiments.worker import Outcome, Worker, store_failure

DEATHS = 3  # workers that a job may take with it before it is the job's fault
PATIENCE = 10.0  # seconds that a cluster has to answer
SHARED = 128 * 2**20  # bytes for Ray's own object store: jobs are small and rows go to the store on disk


@dataclass(frozen=True)
class Ray:
    """Jobs with met needs go to a free worker that holds their model; a worker that dies is replaced, its job repeated.

    Threads are pinned to cores / workers: two workers with two threads each on two cores are three times slower than
    two with one. On a cluster the store and the paths in the plan must be on a file system that all machines share.
    """

    workers: int | None = None  # None: one per core
    address: str | None = None  # None: a Ray of our own on this machine
    threads: int | None = None

    def __post_init__(self) -> None:
        for name in ("workers", "threads"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise SpecError(f"--{name} {value}: give at least 1")
        _ray()

    def run(self, scheduler: Scheduler, ended: Ended) -> None:
        count = min(self.workers or cores(), scheduler.todo)
        each = self.threads or max(1, cores() // (self.workers or cores()))
        with _cluster(_ray(), self.address, count, each):
            Crew(scheduler, ended, each).work(count)


@dataclass
class Seat:
    """A worker process and the group of its last job, whose model it holds."""

    actor: Any
    held: str | None = None


@dataclass
class Crew:
    """All workers of a run."""

    scheduler: Scheduler
    ended: Ended
    threads: int
    free: list[Seat] = field(default_factory=list)
    busy: dict[Any, tuple[Seat, Job]] = field(default_factory=dict)
    deaths: Counter[str] = field(default_factory=Counter)

    def work(self, count: int) -> None:
        self.free = [self._seat() for _ in range(count)]
        while self._feed():
            (ready, *_), _ = _ray().wait(list(self.busy), num_returns=1)
            self._collect(ready, *self.busy.pop(ready))

    def _seat(self) -> Seat:
        ray = _ray()
        env = {"env_vars": {"OMP_NUM_THREADS": str(self.threads), "MKL_NUM_THREADS": str(self.threads)}}
        made = ray.remote(RayWorker).options(num_cpus=1, max_restarts=0, runtime_env=env)
        return Seat(made.remote(str(self.scheduler.store.folder.absolute()), self.threads, os.getcwd()))

    def _feed(self) -> bool:
        """A job for each free worker; False when nothing runs and nothing may start."""
        waiting, self.free = self.free, []
        for seat in waiting:
            others = {s.held for s, _ in self.busy.values()} | {s.held for s in waiting if s is not seat}
            job = self.scheduler.take(seat.held, {group for group in others if group})
            if job is None:
                self.free.append(seat)
                continue
            seat.held = job.group
            self.busy[seat.actor.execute.remote(job)] = (seat, job)
        return bool(self.busy)

    def _collect(self, ready: Any, seat: Seat, job: Job) -> None:
        ray = _ray()
        try:
            outcome = ray.get(ready)
        except ray.exceptions.RayTaskError as error:  # only the store raises
            raise error.cause if isinstance(error.cause, AssayError) else error from error
        except ray.exceptions.RayError as error:  # the process or its machine is gone
            self.free.append(self._seat())
            self._died(job, error)
            return
        self.free.append(seat)
        self.ended(job, outcome)

    def _died(self, job: Job, error: Exception) -> None:
        self.deaths[job.key] += 1
        if self.deaths[job.key] < DEATHS:
            self.scheduler.give_back(job)
            return
        words = f"its worker died {DEATHS} times while it ran; perhaps the memory is too small for it"
        store_failure(self.scheduler.store, job, words, str(error))
        self.ended(job, Outcome("failed", 0.0, words))


class RayWorker:
    """What lives in a worker process."""

    def __init__(self, store: str, threads: int, folder: str) -> None:
        os.chdir(folder)  # paths in a plan are relative to where the run was started
        torch.set_num_threads(threads)
        self.bench = Worker(Store(Path(store)))

    def execute(self, job: Job) -> Outcome:
        return self.bench.execute(job)


@contextmanager
def _cluster(ray: Any, address: str | None, workers: int, threads: int) -> Iterator[None]:
    """A Ray that is running stays as it was; one of our own ends with the run."""
    if ray.is_initialized():
        yield
        return
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # as Ray will have it; else it warns
    os.environ.setdefault("RAY_worker_niceness", "0")  # at Ray's 15 workers starve on a busy machine
    own = {} if address else {"num_cpus": workers, "object_store_memory": SHARED, "include_dashboard": False}
    try:
        if address:
            _knock(address)
        ray.init(address=address or "local", log_to_driver=False, logging_level="error", **own)
    except (OSError, ValueError, RuntimeError) as error:
        raise AssayError(f"cannot start or reach Ray at {address or 'this machine'}: {error}") from error
    try:
        yield
    finally:
        ray.shutdown()


def _knock(address: str) -> None:
    """An error at once where nobody listens: Ray would try for minutes. "auto" and the like are its own matter."""
    found = re.fullmatch(r"(?:ray://)?(.+):(\d+)", address)
    if found:
        socket.create_connection((found[1], int(found[2])), timeout=PATIENCE).close()


def _ray() -> Any:
    try:
        import ray
    except ImportError as error:
        raise AssayError("--engine ray needs Ray; install it with: pip install 'assay[ray]'") from error
    return ray
