"""Mask the words that methods rank first, retrain, and measure how far performance falls (ROAR).

A method is faithful if performance falls faster than with random words masked. Rerun the same command to resume.
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
    EXPLANATION,
    MODEL,
    OUTPUT,
    TRAINING,
    ColumnRoles,
    DryRun,
    EngineOptions,
    JsonFile,
    LabelNames,
    Positive,
    PresetName,
    Settings,
    StoreFolder,
    command_app,
    flag,
    list_option,
    settings_from,
)
from assay.cli._output import command_line, print_preset, print_written, write_json
from assay.core.console import Console
from assay.core.files import check_writable
from assay.core.notices import unsaid
from assay.evaluation.roar.curves import Score
from assay.studies.roar.study import Roar

app = command_app(
    "roar",
    "assay roar --base bilstm_attention --data reviews/ --methods attention,integrated_gradients",
    "assay roar --base FOLDER --data reviews/ --forms recursive,roar --seeds 3 --report roar.html",
    "assay roar --base FOLDER --data reviews/ --forms measurable --dry-run",
)


@dataclass(frozen=True, kw_only=True)
class RoarTraining:
    """How the models are trained."""

    seeds: Positive | None = None
    """Number of trainings per method and step. Default: 5."""
    recipe: str | None = None
    """How to train, e.g. 'recipe(epochs=3)'. Default: the paper's recipe."""
    limit: int | None = None
    """Train on only this many examples, drawn at random."""
    validation_limit: int | None = None
    """Validate on only this many examples, drawn at random."""
    max_length: int | None = None
    """Truncate inputs to this many tokens. Default: 512."""
    columns: ColumnRoles = None
    label_map: LabelNames = None


@app.default
@settings_from(Roar, omit=("recursive",))
def roar(
    *,
    base: Annotated[
        str,
        Parameter(
            group=MODEL,
            help="Pretrained folder or hub id, or a family to train from scratch, e.g. bilstm_attention.",
        ),
    ],
    data: Annotated[
        str, Parameter(group=DATA, help="Folder, hub id or spec with the splits train and test, and ideally dev.")
    ],
    training: Annotated[RoarTraining, Parameter(name="*", group=TRAINING)] = RoarTraining(),
    forms: Annotated[
        list[str] | None,
        list_option(
            group=EXPLANATION,
            show_default="recursive",
            help="recursive ranks words again after each retraining, roar ranks once, measurable fine-tunes one model "
            "with masks and does not retrain.",
        ),
    ] = None,
    preset: PresetName = None,
    settings: Settings,
    score: Annotated[Score, Parameter(group=EXPLANATION, help="Performance on the test split.")] = "macro_f1",
    clip: Annotated[bool, flag("Clip areas to [-1, 1], as the published code does.", EXPLANATION)] = False,
    engine: Annotated[EngineOptions, ENGINE_OPTIONS] = EngineOptions(),
    dry_run: DryRun = False,
    report: Annotated[Path | None, Parameter(group=OUTPUT, help="Also write an HTML page.")] = None,
    json: JsonFile = None,
    store: StoreFolder = None,
) -> None:
    check_writable(report, json)
    console = Console(soft_wrap=True)
    options: dict[str, Any] = {**vars(training), **settings.given(), "preset": preset, "forms": forms, "store": store}
    if dry_run:
        print_missing(console, assay.status(assay.roar_plan(base, data, **options), store=store))
        return
    with resumable(), unsaid("result"):  # printed with the tables
        result = assay.roar(base, data, score=score, clip=clip, watch=print_failure, **engine.given(), **options)
    _print(console, result, report, json)
    end_with(console, result.status)


def _print(console: Console, result: Any, report: Path | None, json: Path | None) -> None:
    from assay.studies.roar.record import record
    from assay.studies.roar.terminal import tables

    for table in tables(result):
        console.print(table)
    print_preset(console, result.preset)
    if not result.curves:
        return
    if report is not None:
        result.to_html(report, command_line())
    if json is not None:
        write_json(json, record(result))
    print_written(console, report, json)
