"""The Ray engine: several workers on this machine or on a cluster, each with one model at a time."""

from __future__ import annotations

import os
import re
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from assay.core.errors import AssayError, SpecError
from assay.core.user_code import load_plugin, loaded_plugins
from assay.experiments.engines import Ended, cores
from assay.experiments.job import Job
from assay.experiments.scheduler import Scheduler
from assay.experiments.store import Store
from assay.experiments.worker import Outcome, Worker, store_failure

DEATHS = 3  # times a job's worker may die before the job counts as failed
PATIENCE = 15.0  # seconds without a finished job after which Ray is asked whether it is alive
TIMEOUT = 10.0  # seconds for a cluster to answer
OBJECT_STORE_BYTES = 128 * 2**20  # jobs are small, and rows go to the store on disk


@dataclass(frozen=True)
class Ray:
    """Gives jobs that can start to free workers, first to one that holds their model, and replaces workers that die.

    Every worker has cores / workers threads: more threads than cores are several times slower. On a cluster, the
    store and the paths in the plan must be on a file system that all machines share.
    """

    workers: int | None = None  # None: one per core
    address: str | None = None  # None: start Ray on this machine
    threads: int | None = None

    def __post_init__(self) -> None:
        for name in ("workers", "threads"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise SpecError(f"--{name} {value}: give at least 1")
        _ray()

    def run(self, scheduler: Scheduler, ended: Ended) -> None:
        count = min(self.workers or cores(), scheduler.todo)
        threads = self.threads or max(1, cores() // (self.workers or cores()))
        with _cluster(_ray(), self.address, count, threads):
            WorkerPool(scheduler, ended, threads).work(count)


@dataclass
class Slot:
    """A worker process, and the group of its last job, whose model it holds."""

    actor: Any
    held: str | None = None


@dataclass
class WorkerPool:
    """All workers of a run."""

    scheduler: Scheduler
    ended: Ended
    threads: int
    free: list[Slot] = field(default_factory=list)
    busy: dict[Any, tuple[Slot, Job]] = field(default_factory=dict)
    deaths: Counter[str] = field(default_factory=Counter)

    def work(self, count: int) -> None:
        node = _ray().get_runtime_context().get_node_id()
        self.free = [self._new_slot() for _ in range(count)]
        while self._assign():
            ready, _ = _ray().wait(list(self.busy), num_returns=1, timeout=PATIENCE)
            if ready:
                self._collect(ready[0], *self.busy.pop(ready[0]))
            else:
                _check_health(node)

    def _new_slot(self) -> Slot:
        ray = _ray()
        env = {"env_vars": {"OMP_NUM_THREADS": str(self.threads), "MKL_NUM_THREADS": str(self.threads)}}
        actor = ray.remote(RayWorker).options(num_cpus=1, max_restarts=0, runtime_env=env)
        store = str(self.scheduler.store.folder.absolute())
        return Slot(actor.remote(store, self.threads, os.getcwd(), loaded_plugins()))

    def _assign(self) -> bool:
        """Give every free worker a job; False when nothing runs and nothing may start."""
        waiting, self.free = self.free, []
        for slot in waiting:
            others = {s.held for s, _ in self.busy.values()} | {s.held for s in waiting if s is not slot}
            job = self.scheduler.take(slot.held, {group for group in others if group})
            if job is None:
                self.free.append(slot)
                continue
            slot.held = job.group
            self.busy[slot.actor.execute.remote(job)] = (slot, job)
        return bool(self.busy)

    def _collect(self, ready: Any, slot: Slot, job: Job) -> None:
        ray = _ray()
        try:
            outcome = ray.get(ready)
        except ray.exceptions.RayTaskError as error:  # a worker raises only for the store
            raise error.cause if isinstance(error.cause, AssayError) else error from error
        except ray.exceptions.RayError as error:  # the process or its machine died
            self.free.append(self._new_slot())
            self._died(job, error)
            return
        self.free.append(slot)
        self.ended(job, outcome)

    def _died(self, job: Job, error: Exception) -> None:
        self.deaths[job.key] += 1
        if self.deaths[job.key] < DEATHS:
            self.scheduler.requeue(job)
            return
        message = f"its worker died {DEATHS} times while running it, perhaps for lack of memory"
        store_failure(self.scheduler.store, job, message, str(error))
        self.ended(job, Outcome("failed", 0.0, message))


def _check_health(node: str) -> None:
    """Raise if Ray is gone: its own calls would wait for it for ever."""
    answer: list[Any] = []
    asking = threading.Thread(target=lambda: answer.extend(_ray().nodes()), daemon=True)
    asking.start()
    asking.join(PATIENCE)
    if any(known["NodeID"] == node and known["Alive"] for known in answer):
        return
    raise AssayError(
        "Ray has stopped: the raylet of this machine died or its cluster does not answer. "
        "Finished work is kept; start the cluster again if it was not ours, and rerun the same command to resume."
    )


class RayWorker:
    """The actor in a worker process."""

    def __init__(self, store: str, threads: int, folder: str, plugins: tuple[str, ...] = ()) -> None:
        os.chdir(folder)  # paths in a plan are relative to where the run was started
        for plugin in plugins:
            load_plugin(plugin)
        torch.set_num_threads(threads)
        self.worker = Worker(Store(Path(store)))

    def execute(self, job: Job) -> Outcome:
        return self.worker.execute(job)


@contextmanager
def _cluster(ray: Any, address: str | None, workers: int, threads: int) -> Iterator[None]:
    """Use the Ray that is running, or start one that ends with the run."""
    if ray.is_initialized():
        yield
        return
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # the future default, without a warning
    os.environ.setdefault("RAY_worker_niceness", "0")  # with Ray's default of 15, workers starve on a busy machine
    own = (
        {} if address else {"num_cpus": workers, "object_store_memory": OBJECT_STORE_BYTES, "include_dashboard": False}
    )
    try:
        if address:
            _check_address(address)
        ray.init(address=address or "local", log_to_driver=False, logging_level="error", **own)
    except Exception as error:  # Ray raises it bare when a busy machine takes too long to start it
        raise AssayError(f"cannot start or reach Ray at {address or 'this machine'}: {error}") from error
    try:
        yield
    finally:
        ray.shutdown()


def _check_address(address: str) -> None:
    """Fail at once if nothing listens there: Ray would try for minutes. Addresses such as "auto" are left to Ray."""
    match = re.fullmatch(r"(?:ray://)?(.+):(\d+)", address)
    if match:
        socket.create_connection((match[1], int(match[2])), timeout=TIMEOUT).close()


def _ray() -> Any:
    try:
        import ray
    except ImportError as error:
        raise AssayError("--engine ray needs Ray; install it with: pip install 'assay[ray]'") from error
    return ray
