"""run: a plan through an engine into a store. What is stored already is not run again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from assay.core.progress import Progress
from assay.experiments.agenda import Agenda, State
from assay.experiments.bench import Outcome
from assay.experiments.engines import engine_of
from assay.experiments.job import Job
from assay.experiments.plan import Plan, part_of, read_plan
from assay.experiments.status import Status
from assay.experiments.store import Store, default_folder

Watch = Callable[[Agenda, Job, Outcome], None]


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
    agenda = Agenda(found.jobs, kept, keep=keep)
    before = sum(state is State.done for state in agenda.state.values())
    if agenda.todo:
        kept.prepare()
        _drive(made, agenda, progress, watch)
    agenda.close()
    _write_down(agenda)
    return Status(found, kept, agenda.state, agenda.reasons, before)


def _drive(engine: Any, agenda: Agenda, progress: bool | None, watch: Watch | None) -> None:
    with Progress("running", agenda.todo, progress) as bar:
        left = agenda.todo

        def ended(job: Job, outcome: Outcome) -> None:
            nonlocal left
            agenda.finish(job, outcome)
            bar.advance(left - agenda.todo)  # a failure may end others with it
            left = agenda.todo
            if watch is not None:
                watch(agenda, job, outcome)

        engine.run(agenda, ended)


def _write_down(agenda: Agenda) -> None:
    """Skipped jobs have a note that says why; one that is not skipped any more has none."""
    for key, job in agenda.jobs.items():
        if agenda.state[key] is State.skipped:
            if agenda.store.note("skipped", key) is None:
                content = {"key": key, "at": dict(job.at), "reason": agenda.reasons[key]}
                agenda.store.put_note("skipped", key, content)
        else:
            agenda.store.drop_note("skipped", key)
