"""What the commands that run a plan say while it runs, and at its end."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from assay.experiments.job import Job
    from assay.experiments.plan import Plan
    from assay.experiments.scheduler import Scheduler
    from assay.experiments.status import Status
    from assay.experiments.store import Store
    from assay.experiments.worker import Outcome

EVERY = 30.0  # seconds between two lines where there is no terminal to draw a bar on


class Lines:
    """Failures at once; how far it is now and then, unless a bar shows it."""

    def __init__(self) -> None:
        self.console = Console(stderr=True, highlight=False, soft_wrap=True)
        self.began = self.last = time.monotonic()
        self.ended = 0

    def __call__(self, scheduler: Scheduler, job: Job, outcome: Outcome) -> None:
        self.ended += 1
        if outcome.state == "failed":
            self.console.print(f"failed: {job.name}: {outcome.error}", style="red", markup=False)
        now = time.monotonic()
        if not sys.stderr.isatty() and now - self.last > EVERY:
            self.last = now
            rest = (now - self.began) / self.ended * scheduler.todo
            self.console.print(f"{self.ended} jobs run, {scheduler.todo} to go, ETA {_clock(rest)}", markup=False)


@contextmanager
def resumable() -> Iterator[None]:
    """Interrupted, say that nothing finished is lost."""
    try:
        yield
    except KeyboardInterrupt:
        Console(stderr=True).print("interrupted: what is finished is kept, and the same command goes on from there")
        raise


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"


def would_run(console: Console, plan: Plan, store: Store) -> None:
    from assay.experiments.scheduler import Scheduler, State

    scheduler = Scheduler(plan.jobs, store)
    for key, job in plan.jobs.items():
        if scheduler.state[key] is State.missing:
            console.print(f"{key[:12]}  {job.name}", markup=False)
    console.print(f"{scheduler.todo} of {len(plan.jobs)} jobs would be run", style="bold")


def tell(console: Console, found: Status) -> None:
    from assay.cli.status import totals, why

    why(console, found)
    already = f", {found.before} of them before" if found.before else ""
    console.print(f"{totals(found)}{already}", style="bold", markup=False)
