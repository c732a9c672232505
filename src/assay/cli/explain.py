"""Explain predictions: which words speak for a class, and which against it.

Give texts as arguments, or a file with --input and --output. Without either, three built-in sentences are explained.
"""

from __future__ import annotations

import json as json_module
import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import Console
from rich.text import Text

import assay
from assay.cli._jobs import resumable
from assay.cli._options import (
    EXPLANATION,
    INPUT,
    MODEL_OPTIONS,
    OUTPUT,
    ModelOptions,
    Settings,
    command_app,
    flag,
    list_option,
    settings_from,
)
from assay.cli._output import check_writable, print_written
from assay.core.errors import AssayError, SpecError
from assay.studies.evaluate.study import Evaluate

app = command_app(
    "explain",
    "assay explain 'a modest pleasure'",
    "assay explain --method 'lime(samples=500),occlusion' --units word 'a modest pleasure'",
    "assay explain --model FOLDER --input reviews.csv --output attributions.jsonl",
)


@app.default
@settings_from(Evaluate, only=("units", "removal", "scope", "seed", "batch_tokens"))
def explain(
    *texts: Annotated[str, Parameter(group=INPUT, help="Texts to explain.")],
    text_pair: Annotated[str | None, Parameter(group=INPUT, help="Second text, for models of text pairs.")] = None,
    input: Annotated[
        Path | None, Parameter(group=INPUT, help="File to explain: jsonl, json, csv, tsv or txt, also .gz.")
    ] = None,
    model: Annotated[ModelOptions, MODEL_OPTIONS] = ModelOptions(),
    method: Annotated[
        list[str] | None,
        list_option(
            group=EXPLANATION,
            help="One or more methods; `assay list methods` shows all. Default: integrated_gradients or, for a model "
            "behind a function, kernel_shap.",
        ),
    ] = None,
    target: Annotated[
        str | None,
        Parameter(group=EXPLANATION, help="Class to explain, by name or index. Default: the predicted class."),
    ] = None,
    settings: Settings,
    output: Annotated[
        Path | None, Parameter(group=OUTPUT, help="JSON Lines file for --input; rerun the same command to resume.")
    ] = None,
    overwrite: Annotated[bool, flag("Replace --output instead of resuming.", OUTPUT)] = False,
    json: Annotated[bool, flag("Print JSON Lines instead of coloured text.", OUTPUT)] = False,
    html: Annotated[Path | None, Parameter(group=OUTPUT, help="Also write an HTML page.")] = None,
) -> None:
    if (input is None) != (output is None):
        raise SpecError("--input and --output go together; to explain single texts, give them as arguments")
    if input is not None and (html is not None or json):
        raise SpecError("--html and --json are for texts given as arguments; --input writes JSON Lines to --output")
    check_writable(html)
    options: dict[str, Any] = {"target": target, **settings.given()}
    if input is not None and output is not None:
        with resumable():
            report = assay.explain_file(model.load(), input, output, method, overwrite=overwrite, **options)
        _print_report(report, output)
        sys.exit(1 if report.errors else 0)
    explained = assay.explain(model.load(), _examples(texts, text_pair), method, **options)
    attributions = explained if method is not None else {explained[0].method.name: explained}
    rows = zip(*attributions.values(), strict=True)
    _print([named for row in rows for named in zip(attributions, row, strict=True)], json, html)


def _examples(texts: tuple[str, ...], text_pair: str | None) -> list[assay.Example]:
    if text_pair is not None and len(texts) != 1:
        raise SpecError("--text-pair goes with exactly one text")
    if not texts:
        return list(assay.load_dataset("builtin"))[:3]
    return [assay.Example(text, text_pair, id=str(i)) for i, text in enumerate(texts)]


def _print(attributions: list[tuple[str, assay.Attribution]], json: bool, html: Path | None) -> None:
    """Print each attribution with the method as the user wrote it."""
    from assay.core.display import rich_text

    if html is not None:
        try:
            assay.Attributions(attribution for _, attribution in attributions).to_html(str(html))
        except OSError as error:
            raise AssayError(f"Cannot write {html}: {error.strerror}") from error
    if json:
        for _, attribution in attributions:
            sys.stdout.write(json_module.dumps(attribution.to_dict(), ensure_ascii=False) + "\n")
        return
    console = Console(highlight=False)
    for name, attribution in attributions:
        console.print(rich_text(attribution, name))
        if console.color_system is None:  # a pipe or a file: scores instead of colours
            console.print(Text(", ".join(f"{text} {score:+.3g}" for text, score in attribution.top(len(attribution)))))
        console.print()
    print_written(console, html)


def _print_report(report: Any, output: Path) -> None:
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    for line, message in sorted(report.errors.items()):
        console.print(f"line {line}: {message}", style="red", markup=False)
    present = f", {report.present} lines were there already" if report.present else ""
    summary = f"wrote {report.written} attributions to {output}{present}; {len(report.errors)} bad lines"
    console.print(summary, markup=False)
