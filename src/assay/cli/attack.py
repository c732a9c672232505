"""Try to change explanations without changing predictions, by perturbing word embeddings.

Only differentiable methods can be attacked. By default, integrated gradients is measured more accurately than it is
attacked; see --measured.
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
from assay.core.console import Console
from assay.core.files import check_writable
from assay.core.notices import unsaid
from assay.studies.attack.study import LIMIT, Attack

if TYPE_CHECKING:
    from assay.evaluation.adversarial.attack_cost import AttackCost
    from assay.studies.attack.result import Attacked

app = command_app(
    "attack",
    "assay attack",
    "assay attack --methods gradient,gradient_x_input --objectives prediction_kept --steps 100",
    "assay attack --model FOLDER --data reviews.csv --epsilon 0.2 --limit 4",
)


@app.default
@settings_from(Attack)
def attack(
    *,
    model: Annotated[ModelOptions, MODEL_OPTIONS] = ModelOptions(),
    data: Annotated[DataOptions, DATA_OPTIONS] = DataOptions(),
    limit: Limit = LIMIT,
    preset: PresetName = None,
    settings: Settings,
    report: ReportFile = Path("attack.html"),
    json: JsonFile = None,
    store: StoreFolder = None,
) -> None:
    check_writable(report, json)
    with resumable(), unsaid("result"):  # printed with the verdict
        result = assay.attack(
            model.load(),
            data.load(),
            preset=preset,
            limit=limit,
            store=store,
            on_start=_print_cost,
            **settings.given(),
        )
    finish_study(result, _table(result), report, json)


def _print_cost(cost: AttackCost) -> None:
    Console(stderr=True, soft_wrap=True).print(f"{cost}; --steps, --methods and --limit make it shorter")


def _table(result: Attacked) -> Table:
    """What the attack changed, for each method and objective."""
    from assay.studies.attack.result import MEASURE_NAMES

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_header=False)
    for row in result.summary:
        table.add_row(Text(row["method"].split("(")[0], style="bold"), Text(row["objective"], style="dim"))
        for name, head in MEASURE_NAMES.items():
            table.add_row(f"  {head}", interval_cell(*row[name]))
    return table
