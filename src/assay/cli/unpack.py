"""`assay unpack records.jsonl.xz`: what was done elsewhere, into a store of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from assay.cli._options import StoreFolder


def run(
    packs: Annotated[list[Path], typer.Argument(help="files of `assay pack`")],
    store: StoreFolder = None,
) -> None:
    """Put packed records into a store: `assay run` goes on from them, `assay report` shows them."""
    from assay.experiments.archive import unpack
    from assay.experiments.store import Store, default_folder

    kept = Store(store if store is not None else default_folder())
    console = Console(highlight=False, soft_wrap=True)
    for path in packs:
        records, new = unpack(path, kept)
        console.print(f"{path}: {records:,} records, {new:,} of them new to {kept.folder}", markup=False)
