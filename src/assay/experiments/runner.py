"""Run plans through an engine, and studies of a model in memory. What the store has is not computed again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from assay.core.progress import Progress
from assay.core.spec import Spec
from assay.datasets.dataset import Dataset
from assay.experiments.engines import Engine
from assay.experiments.job import Job
from assay.experiments.leases import Lease
from assay.experiments.plan import Plan
from assay.experiments.references import InMemoryData, InMemoryModel
from assay.experiments.runs import PLAN, noted, run_of
from assay.experiments.scheduler import Scheduler, State
from assay.experiments.status import Status
from assay.experiments.store import Record, Store, open_store
from assay.experiments.study import StudyContext
from assay.experiments.worker import Outcome, Worker
from assay.models.model import Model

Watch = Callable[[Scheduler, Job, Outcome], None]


class DirectStudy(Protocol):
    """A study that can run directly on a model and data in memory, without a plan."""

    def jobs(self, context: StudyContext) -> list[Job]: ...

    def steps_per_example(self, model: Model) -> int:
        """How often one example advances the progress bar."""


def run_study(
    study: DirectStudy,
    name: str,
    model: Model,
    dataset: Dataset,
    *,
    store: str | Path | Store | None = None,
    progress: bool | None = None,
    on_start: Callable[[int], None] | None = None,
) -> list[Record]:
    """Run a study on a model and data in memory; its jobs have the same keys as in a plan.

    on_start: called before the work, unless there is none, with the number of examples that the store lacks.
    """
    worker = Worker(open_store(store))
    jobs = study.jobs(StudyContext(InMemoryModel(model), InMemoryData(dataset), {"study": name}, worker))
    if not all(worker.store.has(job.key) for job in jobs):
        worker.store.prepare()
    steps = study.steps_per_example(model)
    missing = sum(job.size for job in jobs if not worker.store.has(job.key))
    if on_start is not None and missing:
        on_start(missing)
    facts = {"model": model.title, "data": dataset.name or "a list", "settings": str(Spec.of(study, full=False))}
    run = run_of(name, f"{model.title} on {dataset.name or 'a list'}", jobs, facts)
    with noted(run, worker.store), Progress(name, len(dataset) * steps, progress) as bar:
        return [worker.load_or_compute(job, bar, job.size * steps) for job in jobs]


def run_plan(
    plan: Plan,
    store: Store,
    engine: Engine,
    *,
    keep: bool = False,
    progress: bool | None = None,
    watch: Watch | None = None,
    file: str | Path | None = None,
) -> Status:
    """Run the jobs of a plan that are not done yet; see `assay.run`. file: where the plan was read."""
    artifacts = [key for key, job in plan.jobs.items() if job.artifact]
    path = None if file is None else str(Path(file).absolute())
    run = run_of(PLAN, plan.name, list(plan.jobs.values()), {}, path)
    with noted(run, store), Lease(store.artifacts.folder, artifacts).held() as lease:
        scheduler = Scheduler(plan.jobs, store, keep=keep, lease=lease)
        done_before = sum(state is State.done for state in scheduler.state.values())
        if scheduler.todo:
            store.prepare()
            _run(engine, scheduler, progress, watch)
        scheduler.close()
    _store_skips(scheduler)
    return Status(plan, store, scheduler.state, scheduler.reasons, done_before)


def _run(engine: Engine, scheduler: Scheduler, progress: bool | None, watch: Watch | None) -> None:
    shown = progress is None or progress  # a single job may take an hour, so even one has a bar
    with Progress("running", scheduler.todo, shown, scheduler.running) as bar:
        left = scheduler.todo

        def ended(job: Job, outcome: Outcome) -> None:
            nonlocal left
            scheduler.finish(job, outcome)
            bar.advance(left - scheduler.todo)  # a failure may end other jobs too
            left = scheduler.todo
            if watch is not None:
                watch(scheduler, job, outcome)

        engine.run(scheduler, ended)


def _store_skips(scheduler: Scheduler) -> None:
    """Store why jobs were skipped, and drop the notes of jobs that no longer are."""
    for key, job in scheduler.jobs.items():
        if scheduler.state[key] is State.skipped:
            if scheduler.store.note("skipped", key) is None:
                note = {"key": key, "tags": dict(job.tags), "reason": scheduler.reasons[key]}
                scheduler.store.put_note("skipped", key, note)
        else:
            scheduler.store.drop_note("skipped", key)
