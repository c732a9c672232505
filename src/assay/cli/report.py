"""Write the tables, pages and figures of a plan, as far as it is done.

index.html links to everything and says what is missing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

import assay
from assay.cli._options import OUTPUT, StoreFolder, command_app
from assay.core.console import Console

app = command_app("report", "assay report plan.yaml", "assay report plan.yaml --output results --figure-format svg")


@app.default
def report(
    plan: Annotated[Path, Parameter(help="YAML file of `assay run`.")],
    /,
    *,
    output: Annotated[Path, Parameter(group=OUTPUT, help="Folder for tables, pages and figures.")] = Path("report"),
    figure_format: Annotated[Literal["png", "svg"], Parameter(group=OUTPUT, help="Format of the figures.")] = "png",
    store: StoreFolder = None,
) -> None:
    files = assay.report(plan, output, store=store, figure_format=figure_format)
    Console(soft_wrap=True).print(f"wrote {files[0]} and {len(files) - 1} more files")
