"""`assay evaluate`: which explanation can be trusted; a verdict, a table and a page."""

from __future__ import annotations

import json
import os
import shlex
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from assay.core.errors import AssayError
from assay.core.spec import split as split_specs

if TYPE_CHECKING:
    from assay.reports.result import Result

REPORT = Path("report.html")


def run(
    model: Annotated[str, typer.Option(help="folder or hub id; 'builtin' is a small sentiment model")] = "builtin",
    data: Annotated[str, typer.Option(help="file, folder, hub id, or a name of `assay data list`")] = "builtin",
    split: Annotated[str | None, typer.Option(help="which file of a folder or part of a hub data set")] = None,
    columns: Annotated[str | None, typer.Option(help="role=column,..., e.g. text=review,label=stars")] = None,
    limit: Annotated[int | None, typer.Option(help="so many examples, drawn by the seed; default: all")] = None,
    methods: Annotated[str | None, typer.Option(help="list of specs, e.g. 'lime(samples=500),random'")] = None,
    metrics: Annotated[str | None, typer.Option(help="list of specs; `assay list metrics` shows all")] = None,
    protocol: Annotated[str, typer.Option(help="eraser, thesis, aml or aml_code")] = "eraser",
    removal: Annotated[str | None, typer.Option(help="of the methods; metrics follow the protocol")] = None,
    units: Annotated[str, typer.Option(help="token, word, sentence or patch")] = "token",
    scope: Annotated[str | None, typer.Option(help="score only 'text' or 'text_pair'")] = None,
    target: Annotated[str, typer.Option(help="explain the 'predicted' or the 'gold' class")] = "predicted",
    scale: Annotated[
        str | None, typer.Option(help="explain probability, logit, ...; default: each method's own")
    ] = None,
    seed: Annotated[int, typer.Option(help="of everything random")] = 0,
    store: Annotated[Path | None, typer.Option(help="folder of finished work; default: a cache folder")] = None,
    batch_tokens: Annotated[int | None, typer.Option(help="positions per pass through the model")] = None,
    prompt: Annotated[str | None, typer.Option(help="template with {text}, to classify with a language model")] = None,
    label: Annotated[list[str] | None, typer.Option(help="name=word that follows the prompt; once per label")] = None,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, ...")] = None,
    max_length: Annotated[
        int | None, typer.Option(help="cut texts after so many positions; default: the model's")
    ] = None,
    dtype: Annotated[str | None, typer.Option(help="float32, bfloat16, ...")] = None,
    report: Annotated[Path, typer.Option(help="the page to write")] = REPORT,
    as_markdown: Annotated[Path | None, typer.Option("--markdown", help="also write verdict and table here")] = None,
    as_json: Annotated[Path | None, typer.Option("--json", help="also write table, verdict and settings here")] = None,
) -> None:
    """Rank explanation methods by metrics, with intervals and a verdict. Interrupted, the same command goes on."""
    for path in (report, as_markdown, as_json):
        _writable(path)
    from assay.cli._model import loaded
    from assay.cli.data import _columns
    from assay.datasets.load import load_dataset
    from assay.reports.result import evaluate

    warnings.filterwarnings("ignore", message="an input is longer")  # one for each; the end sums them up
    dataset = load_dataset(data, split=split, columns=_columns(columns))
    result = evaluate(
        loaded(model, prompt, label, device, dtype, max_length),
        dataset,
        None if methods is None else split_specs(methods),
        None if metrics is None else split_specs(metrics),
        protocol=protocol,
        removal=removal,
        units=units,
        scope=scope,
        target=target,
        scale=scale,
        limit=limit,
        seed=seed,
        store=store,
        batch_tokens=batch_tokens,
    )
    _show(result)
    _write(result, report, as_markdown, as_json)


def _writable(path: Path | None) -> None:
    """Say before an hour's work, not after it, that its result has nowhere to go."""
    if path is None:
        return
    folder = path.absolute().parent
    if not folder.is_dir():
        raise AssayError(f"cannot write {path}: there is no folder {folder}; make it or name another")
    if path.is_dir() or not os.access(path if path.exists() else folder, os.W_OK):
        raise AssayError(f"cannot write {path}: it is a folder or may not be written; name another file")


def _show(result: Result) -> None:
    """The table, then the verdict: a terminal is read from its end."""
    from assay.reports.length_limit import past_limit
    from assay.reports.terminal import ranking_table

    console = Console(highlight=False)
    console.print(ranking_table(result, console.width))
    for metric in result.comparisons:
        console.print(result.sentence(metric), markup=False)
    limit = past_limit(result.evaluation)
    if limit is not None:
        console.print(limit.sentence, style="yellow", markup=False)
    console.print(f"\n{result.overall}", style="bold", markup=False)


def _write(result: Result, report: Path, as_markdown: Path | None, as_json: Path | None) -> None:
    console = Console(highlight=False, soft_wrap=True)
    command = shlex.join(["assay", *sys.argv[1:]])
    result.to_html(report, command=command)
    if as_markdown is not None:
        _write_text(as_markdown, result.to_markdown(command))
    if as_json is not None:
        _write_json(result, as_json)
    for path in filter(None, (report, as_markdown, as_json)):
        console.print(f"wrote {path}", style="dim", markup=False)


def _write_json(result: Result, path: Path) -> None:
    from assay.reports.record import record

    content: dict[str, Any] = record(result)
    _write_text(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def _write_text(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise AssayError(f"cannot write {path}: {error.strerror}") from error
