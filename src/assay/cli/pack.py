"""Write the finished records of plans into one small file, to keep or share.

`assay unpack` reads it. Trained models are left out; a run trains those that it still needs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

import assay
from assay.cli._options import OUTPUT, StoreFolder, command_app
from assay.core.console import Console

app = command_app("pack", "assay pack plan.yaml", "assay pack first.yaml second.yaml --output results.jsonl.xz")


@app.default
def pack(
    plans: Annotated[list[Path], Parameter(help="YAML files of `assay run`.", negative=())],
    /,
    *,
    output: Annotated[Path, Parameter(group=OUTPUT, help="File to write; records already in it stay.")] = Path(
        "records.jsonl.xz"
    ),
    store: StoreFolder = None,
) -> None:
    records, jobs = assay.pack(plans, output, store=store)
    size = output.stat().st_size / 1024
    sentence = f"wrote {output}: {records:,} of {jobs:,} jobs, {size:,.0f} KB"
    Console(soft_wrap=True).print(sentence)
