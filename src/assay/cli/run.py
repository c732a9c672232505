"""`assay run plan.yaml`: do what a plan says and is not done yet."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from assay.cli._options import StoreFolder
from assay.cli._run import Lines, resumable, tell, would_run
from assay.core.errors import SpecError


def run(
    plan: Annotated[Path, typer.Argument(help="YAML file; docs/runs.md shows what it may say")],
    store: StoreFolder = None,
    engine: Annotated[str, typer.Option(help="local or ray")] = "local",
    workers: Annotated[int | None, typer.Option(min=1, help="of the ray engine; default: one per core")] = None,
    address: Annotated[str | None, typer.Option(help="of a running Ray cluster; default: one on this machine")] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="of each worker; default: cores / workers")] = None,
    keep: Annotated[bool, typer.Option("--keep", help="keep trained models that no job needs any more")] = False,
    only: Annotated[
        list[str] | None, typer.Option(help="a part of it, e.g. seed=0,1; again for more names", metavar="NAME=VALUES")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="only say what would be run")] = False,
) -> None:
    """Run a plan: trainings, evaluations and studies. Interrupted, the same command goes on where it was."""
    from assay.experiments.runner import run as run_plan
    from assay.experiments.store import Store, default_folder

    warnings.filterwarnings("ignore", message="an input is longer")  # one for each
    console = Console(highlight=False, soft_wrap=True)
    asked = dict(_pair(text) for text in only or ())
    kept = Store(store if store is not None else default_folder())
    if dry_run:
        from assay.experiments.plan import part_of, read_plan

        would_run(console, part_of(read_plan(plan, kept), asked), kept)
        return
    how: dict[str, Any] = {"engine": engine, "workers": workers, "address": address, "threads": threads, "keep": keep}
    with resumable():
        found = run_plan(plan, store=kept.folder, only=asked, watch=Lines(), **how)
    tell(console, found)
    if not found.ok:
        raise typer.Exit(1)


def _pair(text: str) -> tuple[str, str]:
    name, given, value = text.partition("=")
    if not given:
        raise SpecError(f"--only {text}: write name=value, e.g. --only seed=1")
    return name, value
