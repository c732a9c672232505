"""`assay report plan.yaml`: the tables and pages of a plan, as far as it is done."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console


def run(
    plan: Annotated[Path, typer.Argument(help="YAML file of `assay run`")],
    output: Annotated[Path, typer.Option(help="folder for the tables and pages")] = Path("report"),
    store: Annotated[Path | None, typer.Option(help="folder of finished work; default: a cache folder")] = None,
    figures: Annotated[Literal["png", "svg"], typer.Option(help="format of the figures")] = "png",
) -> None:
    """Write CSV and JSON tables of every study, a page per evaluation and figures; index.html leads to them."""
    from assay.reports.plan_report import report

    files = report(plan, output, store=store, ending=figures)
    Console(highlight=False, soft_wrap=True).print(f"wrote {files[0]} and {len(files) - 1} more files", markup=False)
