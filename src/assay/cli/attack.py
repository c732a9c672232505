"""`assay attack`: can an explanation be changed while the prediction stays? A table, a verdict and heat maps."""

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
    from assay.studies.attack.result import Attacked

REPORT = Path("attack.html")
SETTINGS = (
    "limit",
    "epsilon",
    "relative",
    "share",
    "alpha",
    "beta",
    "steps",
    "rate",
    "halve",
    "tolerance",
    "patience",
    "matched",
    "scale",
    "units",
    "removal",
    "shown",
    "seed",
    "batch_tokens",
)


def run(
    model: ModelName = "builtin",
    data: DataName = "builtin",
    split: Split = None,
    columns: Columns = None,
    limit: Annotated[int, typer.Option(help="so many examples, drawn by the seed")] = 16,
    methods: Annotated[str | None, typer.Option(help="list of specs of differentiable methods")] = None,
    measured: Annotated[
        str | None, typer.Option(help="list of specs that explain before and after in place of the methods attacked")
    ] = None,
    objective: Annotated[
        str, typer.Option(help="prediction_kept, probability_matched or both")
    ] = "prediction_kept,probability_matched",
    epsilon: Annotated[float, typer.Option(help="how far an entry of an embedding may move")] = 2.0,
    relative: Annotated[
        bool, typer.Option("--relative", help="epsilon counts the embeddings' root mean square")
    ] = False,
    share: Annotated[float, typer.Option(help="of the units that are the top")] = 0.15,
    alpha: Annotated[float, typer.Option(help="weight of the explanation in probability_matched")] = 1.0,
    beta: Annotated[float, typer.Option(help="weight of the probability in probability_matched")] = 1.0,
    steps: Annotated[int, typer.Option(help="of gradient ascent")] = 500,
    rate: Annotated[float, typer.Option(help="of gradient ascent")] = 0.1,
    halve: Annotated[int, typer.Option(help="the rate is halved every so many steps")] = 200,
    tolerance: Annotated[float, typer.Option(help="a move below this is small")] = 1e-5,
    patience: Annotated[int, typer.Option(help="so many small moves in a row end an attack")] = 20,
    matched: Annotated[float, typer.Option(help="probabilities this close count as the same")] = 0.05,
    scale: Annotated[str, typer.Option(help="what the methods explain: probability, logit, ...")] = "probability",
    units: Units = "token",
    removal: Removal = None,
    shown: Annotated[int, typer.Option(help="examples whose heat maps are shown")] = 8,
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
    """Perturb word embeddings so that the explanation changes and the prediction does not."""
    options = dict(locals())
    writable(report, as_json)
    from assay.cli._study import finish
    from assay.studies.attack.result import attack

    settings = given(options, *SETTINGS)
    if measured is not None:  # else what suits the methods
        settings["measured"] = tuple(split_specs(measured))
    result = attack(
        loaded(model, prompt, label, device, dtype, max_length),
        read(data, split, columns),
        None if methods is None else split_specs(methods),
        objectives=split_specs(objective),
        **settings,
    )
    finish(result, _table(result), report, as_json)


def _table(result: Attacked) -> Table:
    """Per method and objective what the attack changed, a line each."""
    from assay.cli._study import cell
    from assay.studies.attack.result import MEASURE_NAMES

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_header=False)
    for row in result.summary:
        table.add_row(Text(row["method"].split("(")[0], style="bold"), Text(row["objective"], style="dim"))
        for name, head in MEASURE_NAMES.items():
            table.add_row(f"  {head}", cell(*row[name]))
    return table
