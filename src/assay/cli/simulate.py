"""Train students on a teacher's answers and explanations, and measure how well they predict the teacher (simulability).

An explanation teaches if it helps more than its own scores shuffled over the tokens. Rerun the same command to resume.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

import assay
from assay.cli._jobs import end_with, print_failure, print_missing, resumable
from assay.cli._options import (
    DATA,
    ENGINE_OPTIONS,
    MODEL,
    OUTPUT,
    ColumnRoles,
    DryRun,
    EngineOptions,
    JsonFile,
    Settings,
    StoreFolder,
    command_app,
    settings_from,
)
from assay.cli._output import command_line, print_written, write_json
from assay.core.console import Console
from assay.core.files import check_writable
from assay.studies.simulate.study import Simulate

app = command_app(
    "simulate",
    "assay simulate --teacher FOLDER --data reviews/ --split test",
    "assay simulate --teacher FOLDER --student FOLDER --data reviews.csv --methods 'gradient, lime' --sizes 250,500 "
    "--report page.html",
    "assay simulate --teacher FOLDER --student untrained --data reviews/ --split test --seeds 6 --dry-run",
)


@dataclass(frozen=True, kw_only=True)
class SimulationData:
    """Texts that the teacher was not trained on."""

    data: str
    """File, folder, hub id, or a name from `assay data list`; labels are not used."""
    split: str | None = None
    """Split of a folder or hub data set, such as test; it is divided into four."""
    columns: ColumnRoles = None
    limit: int | None = None
    """Use only this many examples, drawn at random."""


@app.default
@settings_from(Simulate, omit=("student",))
def simulate(
    *,
    teacher: Annotated[str, Parameter(group=MODEL, help="Folder or hub id of a classifier or scorer.")],
    student: Annotated[
        str | None,
        Parameter(
            group=MODEL,
            help="Folder or hub id of the student's pretrained weights, or 'untrained' for the teacher's architecture "
            "with new weights. Default: what the teacher was trained from.",
        ),
    ] = None,
    data: Annotated[SimulationData, Parameter(name="*", group=DATA)],
    settings: Settings,
    engine: Annotated[EngineOptions, ENGINE_OPTIONS] = EngineOptions(),
    dry_run: DryRun = False,
    report: Annotated[Path | None, Parameter(group=OUTPUT, help="Also write an HTML page.")] = None,
    json: JsonFile = None,
    store: StoreFolder = None,
) -> None:
    check_writable(report, json)
    console = Console(soft_wrap=True)
    chosen = vars(data)
    options: dict[str, Any] = {**chosen, **settings.given(), "student": student, "store": store}
    source = options.pop("data")
    if dry_run:
        print_missing(console, assay.status(assay.simulate_plan(teacher, source, **options), store=store))
        return
    with resumable():
        result = assay.simulate(teacher, source, watch=print_failure, **engine.given(), **options)
    _print(console, result, report, json)
    end_with(console, result.status)


def _print(console: Console, result: Any, report: Path | None, json: Path | None) -> None:
    from assay.studies.simulate.terminal import tables

    for table in tables(result):
        console.print(table)
    if not result.students:
        return
    if report is not None:
        result.to_html(report, command_line())
    if json is not None:
        write_json(json, result.to_dict())
    print_written(console, report, json)
