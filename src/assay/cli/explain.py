"""Explain predictions: which words speak for a class, and which against it.

Give texts or image files as arguments, or a file with --input and --output. Without either, three built-in sentences
are explained.
"""

from __future__ import annotations

import json as json_module
import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

import assay
from assay.cli._jobs import resumable
from assay.cli._options import (
    EXPLANATION,
    INPUT,
    MODEL_OPTIONS,
    OUTPUT,
    ColumnRoles,
    ModelOptions,
    Settings,
    command_app,
    flag,
    list_option,
    settings_from,
)
from assay.cli._output import print_written
from assay.core.console import Console
from assay.core.errors import SpecError
from assay.core.files import check_writable
from assay.core.printable import UNPRINTABLE
from assay.datasets.images import is_image_folder
from assay.studies.evaluate.study import Evaluate

app = command_app(
    "explain",
    "assay explain 'a modest pleasure'",
    "assay explain --method 'lime(samples=500),occlusion' --units word 'a modest pleasure'",
    "assay explain --model FOLDER --input reviews.csv --output attributions.jsonl",
)


@app.default
@settings_from(Evaluate, only=("scale", "units", "special_tokens", "removal", "scope", "seed", "batch_tokens"))
def explain(
    *inputs: Annotated[
        str, Parameter(group=INPUT, help="Texts to explain; for a model of images, image files or a folder of them.")
    ],
    text_pair: Annotated[str | None, Parameter(group=INPUT, help="Second text, for models of text pairs.")] = None,
    input: Annotated[
        Path | None,
        Parameter(
            group=INPUT, help="File to explain: jsonl, json, csv, tsv or txt, also .gz; it may hold paths of images."
        ),
    ] = None,
    columns: Annotated[ColumnRoles, Parameter(group=INPUT)] = None,
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
    against: Annotated[
        str | None,
        Parameter(group=EXPLANATION, help="Explain what speaks for the class rather than for this one."),
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
    if columns is not None and input is None:
        raise SpecError("--columns is for the columns of --input")
    if input is not None and (html is not None or json):
        raise SpecError("--html and --json are for texts given as arguments; --input writes JSON Lines to --output")
    check_writable(html)
    options: dict[str, Any] = settings.given()
    options["target"] = assay.Target(target, against, options.pop("scale", None))
    if input is not None and output is not None:
        with resumable():
            report = assay.explain_file(
                model.load(), input, output, method, columns=columns, overwrite=overwrite, **options
            )
        _print_report(report, output)
        sys.exit(1 if report.errors else 0)
    explained = assay.explain(model.load(), _inputs(inputs, text_pair), method, **options)
    attributions = explained if method is not None else {explained[0].method.name: explained}
    rows = zip(*attributions.values(), strict=True)
    _print([named for row in rows for named in zip(attributions, row, strict=True)], json, html)


def _inputs(given: tuple[str, ...], text_pair: str | None) -> Any:
    """What the user gave: texts, a pair, images, or a folder of images; three sentences for nothing."""
    if text_pair is not None and len(given) != 1:
        raise SpecError("--text-pair goes with exactly one text")
    if text_pair is not None:
        return [(given[0], text_pair)]
    if len(given) == 1 and is_image_folder(given[0]):
        return Path(given[0])
    return list(given) or list(assay.load_dataset("builtin"))[:3]


def _print(attributions: list[tuple[str, assay.Attribution]], json: bool, html: Path | None) -> None:
    """Print each attribution with the method as the user wrote it."""
    from assay.core.display import rich_text

    if html is not None:
        assay.Attributions(attribution for _, attribution in attributions).to_html(str(html))
    if json:
        for _, attribution in attributions:
            sys.stdout.write(_json_line(attribution.to_dict()))
        return
    console = Console()
    for name, attribution in attributions:
        console.print(rich_text(attribution, name, colours=None if console.no_color else console.color_system))
        console.print()
    print_written(console, html)


def _json_line(content: Any) -> str:
    """JSON on one line; characters that a terminal might obey are escaped, as JSON allows."""
    line = json_module.dumps(content, ensure_ascii=False)
    return UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", line) + "\n"


def _print_report(report: Any, output: Path) -> None:
    console = Console(stderr=True, soft_wrap=True)
    for line, message in sorted(report.errors.items()):
        console.print(f"line {line}: {message}", style="red")
    present = f", {report.present} lines were there already" if report.present else ""
    summary = f"wrote {report.written} attributions to {output}{present}; {len(report.errors)} bad lines"
    console.print(summary)
