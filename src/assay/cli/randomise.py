"""Check whether explanations change when blocks of the model are re-initialised.

A sanity check: a method whose explanations stay the same does not explain what the model has learnt.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rich.table import Table
from rich.text import Text

import assay
from assay.cli._jobs import resumable
from assay.cli._options import (
    DATA_OPTIONS,
    MODEL_OPTIONS,
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
from assay.cli._output import finish_study, interval_cell
from assay.core.files import check_writable
from assay.core.notices import unsaid
from assay.reports.method_style import short_names
from assay.studies.randomise.study import LIMIT, Randomise

if TYPE_CHECKING:
    from assay.studies.randomise.result import Randomised

app = command_app(
    "randomise",
    "assay randomise",
    "assay randomise --model FOLDER --data reviews.csv --methods gradient,attention_rollout --seeds 3",
)


@app.default
@settings_from(Randomise)
def randomise(
    *,
    model: Annotated[ModelOptions, MODEL_OPTIONS] = ModelOptions(),
    data: Annotated[DataOptions, DATA_OPTIONS] = DataOptions(),
    limit: Limit = LIMIT,
    preset: PresetName = None,
    settings: Settings,
    report: ReportFile = Path("randomise.html"),
    json: JsonFile = None,
    store: StoreFolder = None,
) -> None:
    check_writable(report, json)
    with resumable(), unsaid("result"):  # printed with the verdict
        result = assay.randomise(model.load(), data.load(), preset=preset, limit=limit, store=store, **settings.given())
    finish_study(result, _table(result), report, json)


def _table(result: Randomised) -> Table:
    """Spearman's correlation with its interval and the model's output: intact, last, a middle and the first block."""
    names, last = short_names(result.methods), result.model.n_blocks - 1
    blocks = list(dict.fromkeys([last, last // 2, 0]))
    summary = {(row["mode"], row["method"], row["block"]): row for row in result.summary}
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_header=False)
    for mode in result.study.modes:
        heads = ["intact", *(f"block {block + 1}" for block in blocks)]
        table.add_row(Text(mode, style="bold"), *[Text(head, justify="right") for head in heads])
        for method in result.methods:
            rows = [summary.get((mode, method, block)) for block in blocks]
            cells = [Text("-") if r is None else interval_cell(r["spearman"], r["low"], r["high"], "\n") for r in rows]
            table.add_row(Text(f"  {names[method]}", overflow="fold"), Text("1", justify="right"), *cells)
        outputs = [result.output(mode, block) for block in (None, *blocks)]
        cells = [Text("-" if output is None else f"{output:.3g}", justify="right") for output in outputs]
        table.add_row(Text("  the model's output", style="dim"), *cells)
    return table
