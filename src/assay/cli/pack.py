"""`assay pack plan.yaml`: what is done of plans, in one small file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from assay.cli._options import StoreFolder


def run(
    plans: Annotated[list[Path], typer.Argument(help="YAML files of `assay run`")],
    output: Annotated[Path, typer.Option(help="the file; what it holds already stays in it")] = Path(
        "records.jsonl.xz"
    ),
    store: StoreFolder = None,
) -> None:
    """Write the finished records of plans into one small file, to keep or to give away; `assay unpack` reads it."""
    from assay.experiments.archive import pack
    from assay.experiments.store import Store, default_folder

    records, jobs = pack(plans, Store(store if store is not None else default_folder()), output)
    size = output.stat().st_size / 1024
    Console(highlight=False, soft_wrap=True).print(
        f"wrote {output}: {records:,} of {jobs:,} jobs, {size:,.0f} KB", markup=False
    )
