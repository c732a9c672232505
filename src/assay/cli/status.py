"""Show which jobs of a plan are done, missing, failed or skipped, and why. Nothing is run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from rich.table import Table

import assay
from assay.cli._jobs import STATES, print_outcome
from assay.cli._options import StoreFolder, command_app
from assay.core.console import Console

if TYPE_CHECKING:
    from assay.experiments.status import Status

app = command_app("status", "assay status plan.yaml", "assay status plan.yaml --store FOLDER")


@app.default
def status(plan: Annotated[Path, Parameter(help="YAML file of `assay run`.")], /, *, store: StoreFolder = None) -> None:
    console = Console(soft_wrap=True)
    current = assay.status(plan, store=store)
    console.print(_table(current))
    print_outcome(console, current)


def _table(status: Status) -> Table:
    table = Table("study", "model", *STATES, box=None, pad_edge=False)
    for (study, model), counts in status.counts().items():
        table.add_row(study, model, *(str(counts[state] or "") for state in STATES))  # type: ignore[index]
    return table
