"""Add packed records to a store, so that `assay run` resumes from them and `assay report` shows them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

import assay
from assay.cli._options import StoreFolder, command_app
from assay.core.console import Console

app = command_app("unpack", "assay unpack records.jsonl.xz", "assay unpack records.jsonl.xz --store FOLDER")


@app.default
def unpack(
    files: Annotated[list[Path], Parameter(help="Files of `assay pack`.", negative=())],
    /,
    *,
    store: StoreFolder = None,
) -> None:
    console = Console(soft_wrap=True)
    for path in files:
        records, new = assay.unpack(path, store=store)
        console.print(f"{path}: {records:,} records, {new:,} of them new")
