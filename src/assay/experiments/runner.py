"""run: a plan through an engine into a store. What is stored already is not run again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from assay.core.progress import Progress
from assay.experiments.engines import engine_of
from assay.experiments.job import Job
from assay.experiments.plan import Plan, part_of, read_plan
from assay.experiments.scheduler import Scheduler, State
from assay.experiments.status import Status
from assay.experiments.store import Store, default_folder
from assay.experiments.worker import Outcome

Watch = Callable[[Scheduler, Job, Outcome], None]


def run(
    plan: str | Path | Plan,
    *,
    store: str | Path | None = None,
    engine: str = "local",
    workers: int | None = None,
    address: str | None = None,
    threads: int | None = None,
    keep: bool = False,
    only: Mapping[str, str] | None = None,
    progress: bool | None = None,
    watch: Watch | None = None,
) -> Status:
    """Do what a plan says and is not done yet; interrupted, the same call goes on.

    plan: a YAML file (docs/runs.md). engine: "local", or "ray" with so many `workers`, on this machine or on the
    cluster at `address`. threads: of each worker. keep: do not delete trained models and masks that no job needs any
    more. only: the part of the plan where these names have these values, e.g. {"seed": "1"}, with all that it needs. A
    job that fails is reported and does not stop the others.
    """
    kept = Store(Path(store) if store is not None else default_folder())
    made = engine_of(engine, workers=workers, address=address, threads=threads)
    found = part_of(plan if isinstance(plan, Plan) else read_plan(plan, kept), only or {})
    scheduler = Scheduler(found.jobs, kept, keep=keep)
    before = sum(state is State.done for state in scheduler.state.values())
    if scheduler.todo:
        kept.prepare()
        _drive(made, scheduler, progress, watch)
    scheduler.close()
    _write_down(scheduler)
    return Status(found, kept, scheduler.state, scheduler.reasons, before)


def _drive(engine: Any, scheduler: Scheduler, progress: bool | None, watch: Watch | None) -> None:
    with Progress("running", scheduler.todo, progress) as bar:
        left = scheduler.todo

        def ended(job: Job, outcome: Outcome) -> None:
            nonlocal left
            scheduler.finish(job, outcome)
            bar.advance(left - scheduler.todo)  # a failure may end others with it
            left = scheduler.todo
            if watch is not None:
                watch(scheduler, job, outcome)

        engine.run(scheduler, ended)


def _write_down(scheduler: Scheduler) -> None:
    """Skipped jobs have a note that says why; one that is not skipped any more has none."""
    for key, job in scheduler.jobs.items():
        if scheduler.state[key] is State.skipped:
            if scheduler.store.note("skipped", key) is None:
                content = {"key": key, "at": dict(job.at), "reason": scheduler.reasons[key]}
                scheduler.store.put_note("skipped", key, content)
        else:
            scheduler.store.drop_note("skipped", key)
