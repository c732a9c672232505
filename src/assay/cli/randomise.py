"""`assay randomise`: do explanations depend on what the model has learnt? A table, a verdict and a page of curves."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from assay.core.spec import split as split_specs

if TYPE_CHECKING:
    from assay.reports.randomise import Randomised

REPORT = Path("randomise.html")


def run(
    model: Annotated[str, typer.Option(help="folder or hub id; 'builtin' is a small sentiment model")] = "builtin",
    data: Annotated[str, typer.Option(help="file, folder, hub id, or a name of `assay data list`")] = "builtin",
    split: Annotated[str | None, typer.Option(help="which file of a folder or part of a hub data set")] = None,
    columns: Annotated[str | None, typer.Option(help="role=column,..., e.g. text=review,label=stars")] = None,
    limit: Annotated[int, typer.Option(help="so many examples, drawn by the seed")] = 50,
    methods: Annotated[str | None, typer.Option(help="list of specs, e.g. 'gradient,average_attention'")] = None,
    modes: Annotated[str, typer.Option(help="cascading, independent or both")] = "cascading,independent",
    seeds: Annotated[int, typer.Option(help="how many times each block is drawn")] = 1,
    keep_lent: Annotated[
        bool, typer.Option("--keep-lent", help="keep what the first block lends to all (T5's position bias)")
    ] = False,
    scale: Annotated[str | None, typer.Option(help="logit, probability, ...; default: the method's own")] = None,
    units: Annotated[str, typer.Option(help="token, word, sentence or patch")] = "token",
    removal: Annotated[str | None, typer.Option(help="of the methods; default: the model's own")] = None,
    seed: Annotated[int, typer.Option(help="of the examples and of random methods")] = 0,
    batch_tokens: Annotated[int | None, typer.Option(help="positions per pass through the model")] = None,
    prompt: Annotated[str | None, typer.Option(help="template with {text}, to classify with a language model")] = None,
    label: Annotated[list[str] | None, typer.Option(help="name=word that follows the prompt; once per label")] = None,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, ...")] = None,
    dtype: Annotated[str | None, typer.Option(help="float32, bfloat16, ...")] = None,
    report: Annotated[Path, typer.Option(help="the page to write")] = REPORT,
    as_json: Annotated[Path | None, typer.Option("--json", help="also write all rows and settings here")] = None,
) -> None:
    """Draw transformer blocks anew, one by one, and see whether explanations notice."""
    from assay.cli.evaluate import _writable

    for path in (report, as_json):
        _writable(path)
    from assay.cli._model import loaded
    from assay.cli._study import finish
    from assay.cli.data import _columns
    from assay.datasets.load import load_dataset
    from assay.reports.randomise import randomise

    result = randomise(
        loaded(model, prompt, label, device, dtype),
        load_dataset(data, split=split, columns=_columns(columns)),
        None if methods is None else split_specs(methods),
        limit=limit,
        seeds=seeds,
        modes=tuple(split_specs(modes)),
        lent=not keep_lent,
        scale=scale,
        units=units,
        removal=removal,
        seed=seed,
        batch_tokens=batch_tokens,
    )
    finish(result, _table(result), report, as_json)


def _table(result: Randomised) -> Table:
    """Spearman's correlation with its interval at the last, a middle and the first block; the page has all of them."""
    from assay.cli._study import cell
    from assay.reports.faces import short_names

    names, last = short_names(result.methods), result.model.n_blocks - 1
    shown = list(dict.fromkeys([last, last // 2, 0]))
    found = {(row["mode"], row["method"], row["block"]): row for row in result.summary}
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_header=False)
    for mode in result.study.modes:
        table.add_row(Text(mode, style="bold"), *[Text(f"block {b + 1}", justify="right") for b in shown])
        for method in result.methods:
            rows = [found.get((mode, method, block)) for block in shown]
            cells = [Text("-") if r is None else cell(r["spearman"], r["low"], r["high"]) for r in rows]
            table.add_row(f"  {names[method]}", *cells)
    return table
