"""`assay run plan.yaml`: do what a plan says and is not done yet."""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

if TYPE_CHECKING:
    from assay.experiments.agenda import Agenda
    from assay.experiments.bench import Outcome
    from assay.experiments.job import Job
    from assay.experiments.plan import Plan
    from assay.experiments.status import Status
    from assay.experiments.store import Store

EVERY = 30.0  # seconds between two lines where there is no terminal to draw a bar on


def run(
    plan: Annotated[Path, typer.Argument(help="YAML file; docs/runs.md shows what it may say")],
    store: Annotated[Path | None, typer.Option(help="folder of finished work; default: a cache folder")] = None,
    engine: Annotated[str, typer.Option(help="local or ray")] = "local",
    workers: Annotated[int | None, typer.Option(help="of the ray engine; default: one per core")] = None,
    address: Annotated[str | None, typer.Option(help="of a running Ray cluster; default: one on this machine")] = None,
    threads: Annotated[int | None, typer.Option(help="of each worker; default: cores / workers")] = None,
    keep: Annotated[bool, typer.Option("--keep", help="keep trained models that no job needs any more")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="only say what would be run")] = False,
) -> None:
    """Run a plan: trainings, evaluations and studies. Interrupted, the same command goes on where it was."""
    from assay.experiments.runner import run as run_plan
    from assay.experiments.store import Store, default_folder

    warnings.filterwarnings("ignore", message="an input is longer")  # one for each
    console = Console(highlight=False, soft_wrap=True)
    kept = Store(store if store is not None else default_folder())
    if dry_run:
        from assay.experiments.plan import read_plan

        _would_run(console, read_plan(plan, kept), kept)
        return
    found = run_plan(
        plan,
        store=kept.folder,
        engine=engine,
        workers=workers,
        address=address,
        threads=threads,
        keep=keep,
        watch=Lines(),
    )
    _tell(console, found)
    if not found.ok:
        raise typer.Exit(1)


class Lines:
    """Failures at once; how far it is now and then, unless a bar shows it."""

    def __init__(self) -> None:
        self.console = Console(stderr=True, highlight=False, soft_wrap=True)
        self.began = self.last = time.monotonic()
        self.ended = 0

    def __call__(self, agenda: Agenda, job: Job, outcome: Outcome) -> None:
        self.ended += 1
        if outcome.state == "failed":
            self.console.print(f"failed: {job.name}: {outcome.error}", style="red", markup=False)
        now = time.monotonic()
        if not sys.stderr.isatty() and now - self.last > EVERY:
            self.last = now
            rest = (now - self.began) / self.ended * agenda.todo
            self.console.print(f"{self.ended} jobs run, {agenda.todo} to go, ETA {_clock(rest)}", markup=False)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"


def _would_run(console: Console, plan: Plan, store: Store) -> None:
    from assay.experiments.agenda import Agenda, State

    agenda = Agenda(plan.jobs, store)
    for key, job in plan.jobs.items():
        if agenda.state[key] is State.missing:
            console.print(f"{key[:12]}  {job.name}", markup=False)
    console.print(f"{agenda.todo} of {len(plan.jobs)} jobs would be run", style="bold")


def _tell(console: Console, found: Status) -> None:
    from assay.cli.status import totals, why

    why(console, found)
    already = f", {found.before} of them before" if found.before else ""
    console.print(f"{totals(found)}{already}", style="bold", markup=False)
