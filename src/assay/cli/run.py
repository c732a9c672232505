"""Run an experiment plan: trainings, evaluations and other studies.

Rerun the same command to resume. A job that fails does not stop the others.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

import assay
from assay.cli._jobs import print_failure, print_missing, print_outcome, resumable
from assay.cli._options import (
    ENGINE_OPTIONS,
    EXECUTION,
    DryRun,
    EngineOptions,
    StoreFolder,
    command_app,
    flag,
    values_by_tag,
)
from assay.core.console import Console

app = command_app(
    "run",
    "assay run plan.yaml",
    "assay run plan.yaml --only seed=0,1 --dry-run",
    "assay run plan.yaml --engine ray --workers 8",
)


@app.default
def run(
    plan: Annotated[Path, Parameter(help="YAML file; docs/runs.md describes its format.")],
    /,
    *,
    only: Annotated[
        list[str] | None,  # a list, of which every repetition counts
        Parameter(
            group=EXECUTION,
            n_tokens=1,
            negative=(),
            metavar="NAME=VALUES",
            help="Run only the jobs with these tags, e.g. seed=0,1. Repeat for more tags or values.",
        ),
    ] = None,
    engine: Annotated[EngineOptions, ENGINE_OPTIONS] = EngineOptions(),
    keep: Annotated[bool, flag("Keep trained models that no remaining job needs.", EXECUTION)] = False,
    dry_run: DryRun = False,
    store: StoreFolder = None,
) -> None:
    console, chosen = Console(soft_wrap=True), values_by_tag(only)
    if dry_run:
        print_missing(console, assay.status(plan, store=store, only=chosen))
        return
    with resumable():
        status = assay.run(plan, store=store, only=chosen, keep=keep, watch=print_failure, **engine.given())
    print_outcome(console, status)
    if not status.ok:
        sys.exit(1)
