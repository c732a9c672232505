"""Failures and outcome of commands that run the jobs of a plan."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from assay.core.console import Console

if TYPE_CHECKING:
    from assay.experiments.job import Job
    from assay.experiments.scheduler import Scheduler
    from assay.experiments.status import Status
    from assay.experiments.worker import Outcome

STATES = ("done", "missing", "failed", "blocked", "skipped")
INTERRUPTED = "Interrupted. Finished work is kept; rerun the same command to resume."


def print_failure(scheduler: Scheduler, job: Job, outcome: Outcome) -> None:
    """Print a failed job at once; `watch` of a run."""
    if outcome.state == "failed":
        Console(stderr=True, soft_wrap=True).print(f"failed: {job.name}: {outcome.error}", style="red")


@contextmanager
def resumable(sentence: Callable[[], str] = lambda: INTERRUPTED) -> Iterator[None]:
    """Tell a user who presses Ctrl-C what is kept and how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        Console(stderr=True, soft_wrap=True).print(sentence())
        raise


def print_missing(console: Console, status: Status) -> None:
    """List the jobs that a run would do."""
    from assay.experiments.scheduler import State

    states = (State.missing, State.failed, State.blocked)  # a run tries failed jobs again
    missing = [job for key, job in status.plan.jobs.items() if status.states[key] in states]
    for job in missing:
        console.print(f"{job.key[:12]}  {job.name}")
    console.print(f"{len(missing)} of {len(status.plan.jobs)} jobs would run", style="bold")


def print_reasons(console: Console, status: Status) -> None:
    """Print a line per failed job, and one per reason why others did not run."""
    from assay.experiments.scheduler import State

    for job in status.of(State.failed):
        note = status.store.note_path("failed", job.key)
        reason = status.reasons[job.key]
        console.print(f"failed: {job.name}: {reason} (traceback in {note})", style="red")
    for state, style in ((State.blocked, "red"), (State.skipped, "yellow")):
        for reason, count in status.why(state).items():
            console.print(f"{state}, {count} jobs: {reason}", style=style)


def print_outcome(console: Console, status: Status) -> None:
    """Print the reasons and the number of jobs in each state."""
    print_reasons(console, status)
    counts = Counter(status.states.values())
    words = ", ".join(f"{counts[state]} {state}" for state in STATES if counts[state])  # type: ignore[index]
    before = f", {status.before} of them before this run" if status.before else ""
    console.print(f"{status.plan.name}: {len(status.plan.jobs)} jobs: {words}{before}", style="bold")


def end_with(console: Console, status: Status | None) -> None:
    """Print how the jobs of a command ended; exit with 1 if some did not."""
    if status is not None:
        print_outcome(console, status)
        if not status.ok:
            sys.exit(1)
