"""Let people judge explanations: prepare a study, and see what its answers say.

`assay serve --study FOLDER` runs a study in the browser.
"""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from rich.table import Table

import assay
from assay.cli._jobs import resumable
from assay.cli._options import (
    DATA,
    DATA_OPTIONS,
    EXPLANATION,
    MODEL_OPTIONS,
    OUTPUT,
    DataOptions,
    JsonFile,
    ModelOptions,
    Settings,
    StoreFolder,
    command_app,
    list_option,
    settings_from,
)
from assay.cli._output import command_line, interval_cell, print_written, write_json
from assay.core.console import Console
from assay.core.errors import InputError, SpecError
from assay.core.files import check_writable, write_file
from assay.core.optional import optional
from assay.human.export import rows_of, to_csv
from assay.human.folder import ANSWERS, StudyFolder
from assay.human.ready_study import METHODS
from assay.human.results import HumanResults
from assay.human.settings import HumanStudy

if TYPE_CHECKING:
    from assay.web.study.answers import StudyDatabase

app = command_app(
    "study",
    "assay study create --model FOLDER --data reviews.csv --methods 'lime,occlusion' --output study/",
    "assay study create --ready cifar10 --add 'scaffold(FOLDER)' --model FOLDER --data cifar10/ --output study/",
    "assay study results study/ --report results.html",
    "assay study export study/ --output answers.csv",
)
Folder = Annotated[Path, Parameter(help="Folder of the study.")]
DatabaseAddress = Annotated[
    str | None,
    Parameter(group=OUTPUT, help="Database of `assay serve`. Default: answers.sqlite in the folder of the study."),
]


@app.command(help_epilogue="")
@settings_from(HumanStudy)
def create(
    *,
    model: Annotated[ModelOptions, MODEL_OPTIONS] = ModelOptions(),
    data: Annotated[DataOptions, DATA_OPTIONS] = DataOptions(),
    methods: Annotated[
        list[str] | None,
        list_option(
            group=EXPLANATION,
            help=f"Methods that are compared; `assay list methods` shows all. Default: {', '.join(METHODS)}.",
        ),
    ] = None,
    ready: Annotated[
        str | None,
        Parameter(
            group=EXPLANATION,
            help="Methods and settings of a published study: cifar10, or a YAML file. Other options take precedence.",
        ),
    ] = None,
    add: Annotated[
        list[str] | None,
        list_option(group=EXPLANATION, help="Further methods, such as a fitted explainer beside those of --ready."),
    ] = None,
    examples: Annotated[
        int | None, Parameter(group=DATA, help="Examples to judge, drawn at random. Default: 100.")
    ] = None,
    units: Annotated[
        str | None,
        Parameter(group=EXPLANATION, help="What is coloured: word, token, sentence or patch. Default: word or patch."),
    ] = None,
    metrics: Annotated[
        list[str] | None,
        list_option(group=EXPLANATION, help="Automatic metrics to set beside the judgements, e.g. comprehensiveness."),
    ] = None,
    title: Annotated[str | None, Parameter(group=EXPLANATION, help="Title that participants see.")] = None,
    settings: Settings,
    output: Annotated[Path, Parameter(group=OUTPUT, help="Folder to write; one study has one folder.")],
    store: StoreFolder = None,
) -> None:
    """Explain examples and write what participants will see. Rerun the same command to resume."""
    with resumable():
        folder = assay.create_study(
            model.load(), data.load(), output, methods, ready=ready, add=add or (), examples=examples, units=units,
            metrics=metrics or (), title=title, store=store, **settings.given(),
        )  # fmt: skip
    console = Console(soft_wrap=True)
    console.print(f"{folder.title}: {len(folder.examples)} examples; {folder.seats} participants are needed")
    print_written(console, output)
    console.print(f"Run it with: assay serve --study {output}", style="bold")


@app.command(help_epilogue="")
def results(
    folder: Folder,
    /,
    *,
    database: DatabaseAddress = None,
    report: Annotated[Path | None, Parameter(group=OUTPUT, help="HTML page to write.")] = Path("study.html"),
    json: JsonFile = None,
) -> None:
    """Print what people prefer, how sure that is, and whether automatic metrics agree; write a page."""
    from assay.human.results_page import write_results

    check_writable(report, json)
    study = StudyFolder.open(folder)
    answers = _answers(study, database)
    found, console = HumanResults.of(study, answers.answers()), Console()
    console.print(_guess_table(found) if found.is_guess else _table(found))
    if not answers.closed:
        console.print("The study is still open: more answers may come.", style="yellow")
    for sentence in found.remarks:
        console.print(sentence, style="dim")
    for sentence in found.verdict:
        console.print(f"\n{sentence}", style="bold")
    if report is not None:
        write_results(found, report, command_line())
    if json is not None:
        write_json(json, found.to_dict())
    print_written(console, report, json)


@app.command(help_epilogue="")
def export(
    folder: Folder,
    /,
    *,
    output: Annotated[Path, Parameter(group=OUTPUT, help="File to write; its ending, .csv or .json, is the format.")],
    database: DatabaseAddress = None,
) -> None:
    """Write all answers as a table: one row per judged heat map or guess, with the names of methods."""
    if output.suffix.lower() not in (".csv", ".json"):
        raise SpecError(f"{output.name}: answers are written as CSV or JSON; name a file that ends in .csv or .json")
    check_writable(output)
    study = StudyFolder.open(folder)
    rows = rows_of(study, _answers(study, database).answers(), study.methods())
    as_json = output.suffix.lower() == ".json"
    write_file(output, json_module.dumps(rows, ensure_ascii=False, indent=1) + "\n" if as_json else to_csv(rows))
    print_written(Console(), output)


def _answers(study: StudyFolder, database: str | None) -> StudyDatabase:
    optional("sqlalchemy", "web")
    from assay.web.database import Database
    from assay.web.study.answers import SCHEMA
    from assay.web.study.part import answers_in

    address = str(database or study.path / ANSWERS)
    if "://" not in address and not Path(address).is_file():
        raise InputError(
            f"there are no answers: {address} does not exist. Run `assay serve --study {study.path}` first"
        )
    return answers_in(Database.open(address, [SCHEMA]), study)


def _table(found: HumanResults) -> Table:
    table = Table("method", "rank", "TrueSkill", "strength (95 % interval)", "first", title=found.folder.study.asked)
    ratings = {rating.method: rating for rating in found.ratings}
    for row in found.strengths:
        rating = ratings[row.method]
        table.add_row(
            row.method, rating.rank, f"{rating.mu:.2f} ± {rating.sigma:.2f}",
            interval_cell(row.value, row.low, row.high), f"{100 * row.first:.0f} %",
        )  # fmt: skip
    return table


def _guess_table(found: HumanResults) -> Table:
    table = Table("explanation", "right (95 % interval)", "gain", "n", title=found.folder.study.asked)
    for row in found.simulatability:
        gain = "" if row.gain != row.gain else f"{100 * row.gain:+.0f} points"
        table.add_row(row.condition, interval_cell(row.value, row.low, row.high), gain, str(row.n))
    return table
