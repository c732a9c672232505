"""The report of a plan: tables of every study as CSV and JSON, pages, figures and an index."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from assay.core.csv_table import csv_table
from assay.core.files import check_folder_writable, write_file
from assay.core.names import safe_name, shareable
from assay.core.render import render
from assay.experiments.model_table import model_table
from assay.experiments.results import training_rows
from assay.experiments.status import Status
from assay.experiments.study import ReportContext, StudyReport, tidied, tidy_rows
from assay.explainers.learned.parts.method import explainers_at
from assay.reports.figures import available
from assay.reports.method_style import short_names
from assay.reports.plain_json import plain

Table = Sequence[Mapping[str, Any]]
UNFINISHED = ("failed", "blocked", "skipped")


@dataclass(frozen=True)
class Link:
    name: str
    address: str


@dataclass(frozen=True)
class JobCounts:
    """The jobs of one study and model, counted by state."""

    study: str
    model: str
    counts: list[int]


@dataclass(frozen=True)
class Reason:
    """Why some jobs did not finish."""

    state: str
    count: int
    text: str


def write_report(status: Status, folder: Path, ending: str) -> list[Path]:
    """Write the finished results of a plan into a folder; return the files, the index first."""
    check_folder_writable(folder)
    plan, store = status.plan, status.store
    rows = {name: tidy_rows(cells, store) for name, cells in plan.studies().items()}
    learnt = [*training_rows(plan, store), *tidied(plan.fits, store)]
    models, methods = model_table(plan, store), _methods(rows)
    figures = folder / "figures" if available() else None
    with explainers_at(store.artifacts.places):
        studies = {
            name: cells[0].study.report(ReportContext(cells, store, rows[name], models, methods, figures, ending))
            for name, cells in plan.studies().items()
        }
    all_rows = [*learnt, *(row for table in rows.values() for row in table)]
    tables: dict[str, Table] = {"rows": all_rows, "models": models, "train": _trainings(status), "fit": _fits(status)}
    tables |= {name: study.table for name, study in studies.items()}
    files = [path for name, table in tables.items() for path in _write_table(folder, name, table)]
    pages = {title: path for name, study in studies.items() for title, path in _write_pages(folder, name, study)}
    drawn = [path for study in studies.values() for path in study.figures]
    index = _write(folder / "index.html", _index(status, pages, files, drawn, folder))
    return [index, *pages.values(), *files, *drawn]


def _methods(rows: Mapping[str, Table]) -> list[str]:
    """Short names of all methods, so that each has one colour in the whole report; random comes last."""
    names: dict[str, None] = {}
    for table in rows.values():
        methods = list(dict.fromkeys(row["method"] for row in table if "method" in row))
        names |= dict.fromkeys(short_names(methods)[method] for method in methods)
    return sorted(names, key=lambda method: method.partition("(")[0] == "random")


def _write_pages(folder: Path, name: str, study: StudyReport) -> list[tuple[str, Path]]:
    """The pages of a study with their titles in the index."""
    paths = [folder / safe_name(name) / f"{safe_name(page.title)}.html" for page in study.pages]
    pages = zip(study.pages, paths, strict=True)
    return [(f"{name}: {page.title}", _write(path, page.html)) for page, path in pages]


def _trainings(status: Status) -> list[Mapping[str, Any]]:
    """A row per training with its validation scores."""
    out: list[Mapping[str, Any]] = []
    for job in status.plan.trainings:
        record = status.store.get(job.key)
        if record is not None:
            rows = record.rows
            scores = {f"validation_{name}": value for name, value in rows["validation"].items()}
            out.append({**job.tags, **scores, "chance": rows["chance"], "majority": rows["majority"],
                        "steps": rows["steps"], "seconds": record.provenance.get("seconds")})  # fmt: skip
    return out


def _fits(status: Status) -> list[Mapping[str, Any]]:
    """A row per fitted explainer: its metric, its value, and that of a random order."""
    records = [(job, status.store.get(job.key)) for job in status.plan.fits]
    return [
        {**job.tags, "fitted": r.rows["method"], "metric": r.rows["metric"], "better": r.rows["better"],
         "value": r.rows["validation"]["best"], "random": r.rows["validation"]["random"],
         "seconds": r.provenance.get("took")}
        for job, r in records if r is not None
    ]  # fmt: skip


def _write_table(folder: Path, name: str, rows: Table) -> list[Path]:
    """Write a table as CSV and JSON, unless it is empty."""
    if not rows:
        return []
    content = json.dumps(plain(list(rows)), indent=1, ensure_ascii=False) + "\n"
    return [
        _write(folder / f"{safe_name(name)}.{ending}", text)
        for ending, text in (("csv", csv_table(rows)), ("json", content))
    ]


def _index(
    status: Status, pages: Mapping[str, Path], files: Sequence[Path], drawn: Sequence[Path], folder: Path
) -> str:
    states = list(dict.fromkeys(status.states.values()))
    return render(
        "reports/plan_report.html.jinja",
        title=status.plan.name,
        states=states,
        jobs=[
            JobCounts(study, model, [counts[state] for state in states])
            for (study, model), counts in status.counts().items()
        ],
        reasons=[
            Reason(state, count, shareable(text))
            for state in states
            if state in UNFINISHED
            for text, count in status.why(state).items()
        ],
        remarks=[_repeated(model, count) for model, count in status.retrained().items()],
        pages=[_link(path, folder, name) for name, path in pages.items()],
        figures=[_link(path, folder, f"{path.parent.name}, {path.stem}") for path in drawn],
        plots_installed=available(),
        tables=[_link(path, folder, path.name) for path in files],
    )


def _repeated(model: str, count: int) -> str:
    return (
        f"{model}: its records come from {count} sets of weights. Its training was repeated and gave other weights, as "
        "it may on another machine, so two studies of this model can be about two slightly different models."
    )


def _link(path: Path, folder: Path, name: str) -> Link:
    return Link(name, quote(path.relative_to(folder).as_posix()))


def _write(path: Path, text: str) -> Path:
    return write_file(path, text, parents=True)
