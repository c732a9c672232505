"""`assay evaluate`: which explanation can be trusted; a verdict, a table and a page."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

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
    StoreFolder,
    Units,
    given,
    loaded,
    read,
)
from assay.cli._output import command, writable, write_json, write_text
from assay.core.spec import split as split_specs

if TYPE_CHECKING:
    from assay.studies.evaluate.result import Result

REPORT = Path("report.html")
SETTINGS = (
    "protocol",
    "removal",
    "units",
    "scope",
    "target",
    "scale",
    "agreement",
    "limit",
    "seed",
    "store",
    "batch_tokens",
)


def run(
    model: ModelName = "builtin",
    data: DataName = "builtin",
    split: Split = None,
    columns: Columns = None,
    limit: Annotated[int | None, typer.Option(help="so many examples, drawn by the seed; default: all")] = None,
    methods: Annotated[str | None, typer.Option(help="list of specs, e.g. 'lime(samples=500),random'")] = None,
    metrics: Annotated[str | None, typer.Option(help="list of specs; `assay list metrics` shows all")] = None,
    protocol: Annotated[str, typer.Option(help="eraser, thesis, aml or aml_code")] = "eraser",
    removal: Removal = None,
    units: Units = "token",
    scope: Annotated[str | None, typer.Option(help="score only 'text' or 'text_pair'")] = None,
    target: Annotated[str, typer.Option(help="explain the 'predicted' or the 'gold' class")] = "predicted",
    scale: Annotated[
        str | None, typer.Option(help="explain probability, logit, ...; default: each method's own")
    ] = None,
    agreement: Annotated[
        str, typer.Option(help="compare methods by spearman, kendall or top_k_overlap; see `assay list agreement`")
    ] = "spearman",
    seed: Annotated[int, typer.Option(help="of everything random")] = 0,
    store: StoreFolder = None,
    batch_tokens: BatchTokens = None,
    prompt: Prompt = None,
    label: Label = None,
    device: Device = None,
    dtype: Dtype = None,
    max_length: MaxLength = None,
    report: Report = REPORT,
    as_markdown: Annotated[Path | None, typer.Option("--markdown", help="also write verdict and table here")] = None,
    as_json: Annotated[Path | None, typer.Option("--json", help="also write table, verdict and settings here")] = None,
) -> None:
    """Rank explanation methods by metrics, with intervals and a verdict. Interrupted, the same command goes on."""
    options = dict(locals())
    writable(report, as_markdown, as_json)
    from assay.studies.evaluate.result import evaluate

    warnings.filterwarnings("ignore", message="an input is longer")  # one for each; the end sums them up
    dataset = read(data, split, columns)
    result = evaluate(
        loaded(model, prompt, label, device, dtype, max_length),
        dataset,
        None if methods is None else split_specs(methods),
        None if metrics is None else split_specs(metrics),
        **given(options, *SETTINGS),
    )
    _show(result)
    _write(result, report, as_markdown, as_json)


def _show(result: Result) -> None:
    """The table, then the verdict: a terminal is read from its end."""
    from assay.studies.evaluate.length_limit import past_limit
    from assay.studies.evaluate.terminal import ranking_table

    console = Console(highlight=False)
    console.print(ranking_table(result, console.width))
    for metric in result.comparisons:
        console.print(result.sentence(metric), markup=False)
    limit = past_limit(result.evaluation)
    if limit is not None:
        console.print(limit.sentence, style="yellow", markup=False)
    console.print(f"\n{result.overall}", style="bold", markup=False)


def _write(result: Result, report: Path, as_markdown: Path | None, as_json: Path | None) -> None:
    from assay.studies.evaluate.record import record

    console = Console(highlight=False, soft_wrap=True)
    result.to_html(report, command=command())
    if as_markdown is not None:
        write_text(as_markdown, result.to_markdown(command()))
    if as_json is not None:
        write_json(as_json, record(result))
    for path in filter(None, (report, as_markdown, as_json)):
        console.print(f"wrote {path}", style="dim", markup=False)
