"""Rank explanation methods by metrics, with confidence intervals and a verdict.

Rerun the same command to resume an interrupted evaluation.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

import assay
from assay.cli._jobs import resumable
from assay.cli._options import (
    DATA_OPTIONS,
    MODEL_OPTIONS,
    OUTPUT,
    DataOptions,
    JsonFile,
    Limit,
    ModelOptions,
    PresetName,
    ReportFile,
    Settings,
    StoreFolder,
    command_app,
    settings_from,
)
from assay.cli._output import command_line, print_written, write_json, write_report
from assay.core.console import Console
from assay.core.files import check_writable, write_file
from assay.core.notices import unsaid
from assay.studies.evaluate.study import Evaluate

if TYPE_CHECKING:
    from assay.studies.evaluate.result import Result

app = command_app(
    "evaluate",
    "assay evaluate",
    "assay evaluate --methods 'lime(samples=500),occlusion,random' --metrics sufficiency,log_odds",
    "assay evaluate --model FOLDER --data reviews.csv --columns text=review,label=stars --limit 100",
    "assay evaluate --model FOLDER --data reviews.csv --preset thesis --limit 100",
)


@app.default
@settings_from(Evaluate)
def evaluate(
    *,
    model: Annotated[ModelOptions, MODEL_OPTIONS] = ModelOptions(),
    data: Annotated[DataOptions, DATA_OPTIONS] = DataOptions(),
    limit: Limit = None,
    preset: PresetName = None,
    settings: Settings,
    report: ReportFile = Path("report.html"),
    markdown: Annotated[Path | None, Parameter(group=OUTPUT, help="Also write verdict and table as Markdown.")] = None,
    json: JsonFile = None,
    store: StoreFolder = None,
) -> None:
    check_writable(report, markdown, json)
    with resumable(), unsaid("result"):  # printed with the verdict
        result = assay.evaluate(model.load(), data.load(), preset=preset, limit=limit, store=store, **settings.given())
    _print(result)
    write_report(result, report)
    if markdown is not None:
        write_file(markdown, result.to_markdown(command_line()))
    if json is not None:
        from assay.studies.evaluate.record import record

        write_json(json, record(result))
    print_written(Console(), report, markdown, json)


def _print(result: Result) -> None:
    """Print the table and then the verdict: the end is what a terminal shows."""
    from assay.studies.evaluate.terminal import ranking_table

    console = Console()
    console.print(ranking_table(result, console.width))
    for metric in result.comparisons:
        console.print(result.sentence(metric))
    for remark in result.remarks:
        console.print(remark, style="dim")
    for warning in result.warnings:
        console.print(f"warning: {warning}", style="yellow")
    console.print(f"\n{result.overall}", style="bold")
