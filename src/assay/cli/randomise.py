"""`assay randomise`: do explanations depend on what the model has learnt? A table, a verdict and a page of curves."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from assay.cli._options import (
    BatchTokens,
    Columns,
    DataName,
    Device,
    Dtype,
    Label,
    MaxLength,
    ModelName,
    Prompt,
    Removal,
    Report,
    Split,
    Units,
    given,
    loaded,
    read,
)
from assay.cli._output import writable
from assay.core.spec import split as split_specs

if TYPE_CHECKING:
    from assay.studies.randomise.result import Randomised

REPORT = Path("randomise.html")


def run(
    model: ModelName = "builtin",
    data: DataName = "builtin",
    split: Split = None,
    columns: Columns = None,
    limit: Annotated[int, typer.Option(help="so many examples, drawn by the seed")] = 50,
    methods: Annotated[str | None, typer.Option(help="list of specs, e.g. 'gradient,average_attention'")] = None,
    modes: Annotated[str, typer.Option(help="cascading, independent or both")] = "cascading,independent",
    seeds: Annotated[int, typer.Option(min=1, help="how many times each block is drawn")] = 1,
    keep_lent: Annotated[
        bool, typer.Option("--keep-lent", help="keep what the first block lends to all (T5's position bias)")
    ] = False,
    scale: Annotated[str | None, typer.Option(help="logit, probability, ...; default: the method's own")] = None,
    units: Units = "token",
    removal: Removal = None,
    seed: Annotated[int, typer.Option(help="of the examples and of random methods")] = 0,
    batch_tokens: BatchTokens = None,
    prompt: Prompt = None,
    label: Label = None,
    device: Device = None,
    dtype: Dtype = None,
    max_length: MaxLength = None,
    report: Report = REPORT,
    as_json: Annotated[Path | None, typer.Option("--json", help="also write all rows and settings here")] = None,
) -> None:
    """Draw transformer blocks anew, one by one, and see whether explanations notice."""
    options = dict(locals())
    writable(report, as_json)
    from assay.cli._study import finish
    from assay.studies.randomise.result import randomise

    result = randomise(
        loaded(model, prompt, label, device, dtype, max_length),
        read(data, split, columns),
        None if methods is None else split_specs(methods),
        modes=tuple(split_specs(modes)),
        shared_parameters=not keep_lent,
        **given(options, "limit", "seeds", "scale", "units", "removal", "seed", "batch_tokens"),
    )
    finish(result, _table(result), report, as_json)


def _table(result: Randomised) -> Table:
    """Spearman's correlation with its interval at the last, a middle and the first block; the page has all of them."""
    from assay.cli._study import cell
    from assay.reports.method_style import short_names

    names, last = short_names(result.methods), result.model.n_blocks - 1
    shown = list(dict.fromkeys([last, last // 2, 0]))
    found = {(row["mode"], row["method"], row["block"]): row for row in result.summary}
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_header=False)
    for mode in result.study.modes:
        table.add_row(Text(mode, style="bold"), *[Text(f"block {b + 1}", justify="right") for b in shown])
        for method in result.methods:
            rows = [found.get((mode, method, block)) for block in shown]
            cells = [Text("-") if r is None else cell(r["spearman"], r["low"], r["high"], "\n") for r in rows]
            table.add_row(Text(f"  {names[method]}", overflow="fold"), *cells)
    return table
