"""`assay attack`: can an explanation be changed while the prediction stays? A table, a verdict and heat maps."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from assay.core.spec import split as split_specs

if TYPE_CHECKING:
    from assay.reports.attack import Attacked

REPORT = Path("attack.html")


def run(
    model: Annotated[str, typer.Option(help="folder or hub id; 'builtin' is a small sentiment model")] = "builtin",
    data: Annotated[str, typer.Option(help="file, folder, hub id, or a name of `assay data list`")] = "builtin",
    split: Annotated[str | None, typer.Option(help="which file of a folder or part of a hub data set")] = None,
    columns: Annotated[str | None, typer.Option(help="role=column,..., e.g. text=review,label=stars")] = None,
    limit: Annotated[int, typer.Option(help="so many examples, drawn by the seed")] = 16,
    methods: Annotated[str | None, typer.Option(help="list of specs of differentiable methods")] = None,
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
    units: Annotated[str, typer.Option(help="token, word, sentence or patch")] = "token",
    removal: Annotated[str | None, typer.Option(help="of the methods; default: the model's own")] = None,
    shown: Annotated[int, typer.Option(help="examples whose heat maps are shown")] = 8,
    seed: Annotated[int, typer.Option(help="of the examples and of random methods")] = 0,
    batch_tokens: Annotated[int | None, typer.Option(help="positions per pass through the model")] = None,
    prompt: Annotated[str | None, typer.Option(help="template with {text}, to classify with a language model")] = None,
    label: Annotated[list[str] | None, typer.Option(help="name=word that follows the prompt; once per label")] = None,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, ...")] = None,
    dtype: Annotated[str | None, typer.Option(help="float32, bfloat16, ...")] = None,
    report: Annotated[Path, typer.Option(help="the page to write")] = REPORT,
    as_json: Annotated[Path | None, typer.Option("--json", help="also write all rows and settings here")] = None,
) -> None:
    """Perturb word embeddings so that the explanation changes and the prediction does not."""
    from assay.cli.evaluate import _writable

    for path in (report, as_json):
        _writable(path)
    from assay.cli._model import loaded
    from assay.cli._study import finish
    from assay.cli.data import _columns
    from assay.datasets.load import load_dataset
    from assay.reports.attack import attack

    result = attack(
        loaded(model, prompt, label, device, dtype),
        load_dataset(data, split=split, columns=_columns(columns)),
        None if methods is None else split_specs(methods),
        limit=limit,
        objectives=split_specs(objective),
        epsilon=epsilon,
        relative=relative,
        share=share,
        alpha=alpha,
        beta=beta,
        steps=steps,
        rate=rate,
        halve=halve,
        tolerance=tolerance,
        patience=patience,
        matched=matched,
        scale=scale,
        units=units,
        removal=removal,
        shown=shown,
        seed=seed,
        batch_tokens=batch_tokens,
    )
    finish(result, _table(result), report, as_json)


def _table(result: Attacked) -> Table:
    """Per method and objective what the attack changed, a line each."""
    from assay.cli._study import cell
    from assay.reports.attack import HEADS

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_header=False)
    for row in result.summary:
        table.add_row(Text(row["method"].split("(")[0], style="bold"), Text(row["objective"], style="dim"))
        for name, head in HEADS.items():
            table.add_row(f"  {head}", cell(*row[name]))
    return table
