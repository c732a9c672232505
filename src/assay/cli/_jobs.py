"""Progress and outcome of commands that run the jobs of a plan."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from assay.experiments.job import Job
    from assay.experiments.scheduler import Scheduler
    from assay.experiments.status import Status
    from assay.experiments.worker import Outcome

STATES = ("done", "missing", "failed", "blocked", "skipped")
INTERVAL = 30.0  # seconds between two lines of progress where no terminal shows a bar
INTERRUPTED = "Interrupted. Finished work is kept; rerun the same command to resume."


class JobLines:
    """Print failures at once, and lines of progress where there is no progress bar."""

    def __init__(self) -> None:
        self.console = Console(stderr=True, highlight=False, soft_wrap=True)
        self.started = self.printed = time.monotonic()
        self.ended = 0

    def __call__(self, scheduler: Scheduler, job: Job, outcome: Outcome) -> None:
        self.ended += 1
        if outcome.state == "failed":
            self.console.print(f"failed: {job.name}: {outcome.error}", style="red", markup=False)
        now = time.monotonic()
        if not sys.stderr.isatty() and now - self.printed > INTERVAL:
            self.printed = now
            seconds = (now - self.started) / self.ended * scheduler.todo
            progress = f"{self.ended} jobs done, {scheduler.todo} left, about {_clock(seconds)} to go"
            self.console.print(progress, markup=False)


@contextmanager
def resumable() -> Iterator[None]:
    """Tell a user who presses Ctrl-C how to resume."""
    try:
        yield
    except KeyboardInterrupt:
        Console(stderr=True, soft_wrap=True).print(INTERRUPTED)
        raise


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"


def print_missing(console: Console, status: Status) -> None:
    """List the jobs that a run would do."""
    from assay.experiments.scheduler import State

    states = (State.missing, State.failed, State.blocked)  # a run tries failed jobs again
    missing = [job for key, job in status.plan.jobs.items() if status.states[key] in states]
    for job in missing:
        console.print(f"{job.key[:12]}  {job.name}", markup=False)
    console.print(f"{len(missing)} of {len(status.plan.jobs)} jobs would run", style="bold")


def print_reasons(console: Console, status: Status) -> None:
    """Print a line per failed job, and one per reason why others did not run."""
    from assay.experiments.scheduler import State

    for job in status.of(State.failed):
        note = status.store.note_path("failed", job.key)
        reason = status.reasons[job.key]
        console.print(f"failed: {job.name}: {reason} (traceback in {note})", style="red", markup=False)
    for state, style in ((State.blocked, "red"), (State.skipped, "yellow")):
        for reason, count in status.why(state).items():
            console.print(f"{state}, {count} jobs: {reason}", style=style, markup=False)


def print_outcome(console: Console, status: Status) -> None:
    """Print the reasons and the number of jobs in each state."""
    print_reasons(console, status)
    counts = Counter(status.states.values())
    words = ", ".join(f"{counts[state]} {state}" for state in STATES if counts[state])  # type: ignore[index]
    before = f", {status.before} of them before this run" if status.before else ""
    console.print(f"{status.plan.name}: {len(status.plan.jobs)} jobs: {words}{before}", style="bold", markup=False)
