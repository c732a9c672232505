"""`assay explain`: texts on the command line or in a file; coloured terminal, JSON, HTML or JSON lines."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from assay.cli._options import (
    BatchTokens,
    Device,
    Dtype,
    Label,
    MaxLength,
    ModelName,
    Prompt,
    Removal,
    Units,
    loaded,
)
from assay.core.errors import AssayError, SpecError
from assay.core.spec import split


def run(
    texts: Annotated[list[str] | None, typer.Argument(help="texts to explain; none: three built-in sentences")] = None,
    model: ModelName = "builtin",
    method: Annotated[
        str, typer.Option(help="spec or list, e.g. 'lime(samples=500),occlusion'")
    ] = "integrated_gradients",
    text_pair: Annotated[str | None, typer.Option(help="second text, for models of pairs")] = None,
    target: Annotated[str | None, typer.Option(help="label name or index; default: the predicted class")] = None,
    units: Units = "token",
    removal: Removal = None,
    scope: Annotated[str | None, typer.Option(help="score only 'text' or 'text_pair'")] = None,
    seed: Annotated[int, typer.Option(help="of everything random")] = 0,
    batch_tokens: BatchTokens = None,
    prompt: Prompt = None,
    label: Label = None,
    device: Device = None,
    dtype: Dtype = None,
    max_length: MaxLength = None,
    input: Annotated[Path | None, typer.Option(help=".jsonl, .csv, .tsv or .txt file of inputs, also .gz")] = None,
    output: Annotated[
        Path | None, typer.Option(help=".jsonl file for the attributions; resumes if interrupted")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="start --output anew")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON lines instead of colours")] = False,
    html: Annotated[Path | None, typer.Option(help="also write an HTML page")] = None,
) -> None:
    """Explain predictions of a model."""
    from assay.explainers.methods import named_methods
    from assay.explainers.session import Session

    if (input is None) != (output is None):
        raise SpecError("--input and --output go together; without them the texts are arguments")
    reader = loaded(model, prompt, label, device, dtype, max_length)
    session = Session.create(reader, named_methods(split(method)), units, removal, scope, seed, batch_tokens)
    if input is not None and output is not None:
        from assay.cli._file import explain_file

        raise typer.Exit(explain_file(session, input, output, target, overwrite=overwrite))
    _show(_explain(session, texts, text_pair, target), as_json, html)


def _explain(session: Any, texts: list[str] | None, pair: str | None, target: str | None) -> list[tuple[str, Any]]:
    """Attributions with the spec of each, those of one text together."""
    from assay.core.progress import Progress
    from assay.core.types import Example
    from assay.datasets.builtin import builtin

    if pair is not None and (texts is None or len(texts) != 1):
        raise SpecError("--text-pair goes with exactly one text")
    given = [Example(text, pair, id=str(i)) for i, text in enumerate(texts)] if texts else builtin()[:3]
    with Progress("explaining", len(given) * len(session.methods)) as bar:
        found = session.explain_chunk(list(enumerate(given)), [target] * len(given), bar)
    return [(name, found[name][i]) for i in range(len(given)) for name in found]


def _show(named: list[tuple[str, Any]], as_json: bool, html: Path | None) -> None:
    from assay.core.attributions import Attributions
    from assay.core.display import rich_text

    if html is not None:
        try:
            Attributions([attribution for _, attribution in named]).to_html(str(html))
        except OSError as error:
            raise AssayError(f"cannot write {html}: {error.strerror}") from error
    if as_json:
        for _, attribution in named:
            sys.stdout.write(json.dumps(attribution.to_dict(), ensure_ascii=False) + "\n")
        return
    console = Console(highlight=False)
    for name, attribution in named:
        console.print(rich_text(attribution, name))
        if console.color_system is None:  # a pipe, a file: numbers in place of colours
            console.print(Text(", ".join(f"{text} {score:+.3g}" for text, score in attribution.top(len(attribution)))))
        console.print()
    if html is not None:
        console.print(f"wrote {html}")
