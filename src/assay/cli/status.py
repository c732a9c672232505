"""`assay status plan.yaml`: what of a plan is done, missing, failed or skipped, and why."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from assay.cli._options import StoreFolder

if TYPE_CHECKING:
    from assay.experiments.status import Status

SHOWN = ("done", "missing", "failed", "blocked", "skipped")


def run(
    plan: Annotated[Path, typer.Argument(help="YAML file of `assay run`")],
    store: StoreFolder = None,
) -> None:
    """Count a plan's jobs by study and model, and say what failed or was skipped and why. Runs nothing."""
    from assay.experiments.status import status

    console = Console(highlight=False, soft_wrap=True)
    found = status(plan, store)
    console.print(_table(found))
    why(console, found)
    console.print(totals(found), style="bold", markup=False)


def _table(found: Status) -> Table:
    table = Table("study", "model", *SHOWN, box=None, pad_edge=False)
    for (study, model), counts in found.counts().items():
        table.add_row(study, model, *(str(counts[state] or "") for state in SHOWN))  # type: ignore[index]
    return table


def why(console: Console, found: Status) -> None:
    """A line per failed job and per reason of others that were not run."""
    from assay.experiments.scheduler import State

    for job in found.of(State.failed):
        note = found.store.note_path("failed", job.key)
        console.print(f"failed: {job.name}: {found.reasons[job.key]} (traceback in {note})", style="red", markup=False)
    for state, style in ((State.blocked, "red"), (State.skipped, "yellow")):
        for reason, count in found.why(state).items():
            console.print(f"{state}, {count} jobs: {reason}", style=style, markup=False)


def totals(found: Status) -> str:
    counts = Counter(found.states.values())
    words = ", ".join(f"{counts[state]} {state}" for state in SHOWN if counts[state])  # type: ignore[index]
    return f"{found.plan.name}: {len(found.plan.jobs)} jobs: {words}"
