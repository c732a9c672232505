"""The report of a plan: tables of every study as CSV and JSON, a page per evaluation, figures and an index."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from assay.core.errors import AssayError
from assay.core.render import render
from assay.experiments.model_table import model_table
from assay.experiments.plan import Plan, StudyCell
from assay.experiments.results import evaluation, records, results
from assay.experiments.status import Status, status
from assay.experiments.store import Store
from assay.reports.figures import available
from assay.reports.plain_json import plain
from assay.reports.plan_figures import plan_figures
from assay.studies.evaluate.result import Result
from assay.studies.evaluate.study import Evaluate

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


def report(
    plan: str | Path | Plan, output: str | Path, *, store: str | Path | None = None, ending: str = "png"
) -> list[Path]:
    """Write a report of the finished jobs of a plan into the folder `output` and return its files.

    rows.csv and rows.json hold every number, STUDY.csv and STUDY.json the tables (with intervals and ranks for an
    evaluation), models.csv the models with their sizes, STUDY/MODEL on DATA.html the pages, figures/STUDY/NAME.png (or
    .svg, see `ending`) the figures if the extra `plots` is installed. index.html links to all of them and lists
    unfinished jobs.
    """
    progress = status(plan, store)
    folder = Path(output)
    rows = results(progress.plan, progress.store)
    files = _tables(folder, "rows", rows)
    models = model_table(progress.plan, progress.store)
    files += _tables(folder, "models", models)
    drawn = plan_figures(rows, models, folder / "figures", ending) if available() else []
    studies: dict[str, list[Mapping[str, Any]]] = {}
    pages: dict[str, Path] = {}
    for cell in progress.plan.cells:
        table, page = _cell(cell, progress.store, folder)
        studies.setdefault(cell.study, []).extend(table)
        if page is not None:
            pages[cell.name] = page
    studies = {"train": _trainings(progress), **studies}
    for study, table in studies.items():
        files += _tables(folder, study, table)
    index = _write(folder / "index.html", _index(progress, pages, files, drawn, folder))
    return [index, *pages.values(), *files, *drawn]


def _cell(cell: StudyCell, store: Store, folder: Path) -> tuple[Table, Path | None]:
    """The table of one model and data set, and its page if it is an evaluation."""
    place = dict(cell.jobs[0].at) if cell.jobs else {}
    if not isinstance(cell.kind, Evaluate):
        stored = records(cell, store) or []
        rows = [row for record, job in zip(stored, cell.jobs, strict=False) for row in job.kind.tidy(record.rows, job)]
        return [{**place, **row} for row in rows], None
    finished = evaluation(cell, store)
    if finished is None:
        return [], None
    result = Result(finished)
    path = folder / cell.study / f"{_file_name(cell.model.name)} on {_file_name(cell.data.name)}.html"
    _write(path, "")  # creates the folder
    result.to_html(path)
    scores = {f"model_{name}": interval.value for name, interval in result.performance.items()}
    return [{**place, **row, **scores} for row in result.table()], path


def _trainings(progress: Status) -> list[Mapping[str, Any]]:
    """A row per training with its validation scores."""
    out: list[Mapping[str, Any]] = []
    for job in progress.plan.trainings:
        record = progress.store.get(job.key)
        if record is not None:
            rows = record.rows
            scores = {f"validation_{name}": value for name, value in rows["validation"].items()}
            out.append({**job.at, **scores, "chance": rows["chance"], "majority": rows["majority"],
                        "steps": rows["steps"], "seconds": record.provenance["seconds"]})  # fmt: skip
    return out


def _tables(folder: Path, name: str, rows: Table) -> list[Path]:
    """Write a table as CSV and JSON, unless it is empty."""
    if not rows:
        return []
    columns = list(dict.fromkeys(key for row in rows for key in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="")
    writer.writeheader()
    writer.writerows(rows)
    content = json.dumps(plain(list(rows)), indent=1, ensure_ascii=False) + "\n"
    return [_write(folder / f"{name}.csv", text.getvalue()), _write(folder / f"{name}.json", content)]


def _index(
    progress: Status, pages: Mapping[str, Path], files: Sequence[Path], drawn: Sequence[Path], folder: Path
) -> str:
    states = list(dict.fromkeys(progress.states.values()))
    return render(
        "reports/plan_report.html.jinja",
        title=progress.plan.name,
        states=states,
        jobs=[
            JobCounts(study, model, [counts[state] for state in states])
            for (study, model), counts in progress.counts().items()
        ],
        reasons=[
            Reason(state, count, text)
            for state in states
            if state in UNFINISHED
            for text, count in progress.why(state).items()
        ],
        pages=[_link(path, folder, name) for name, path in pages.items()],
        figures=[_link(path, folder, f"{path.parent.name}, {path.stem}") for path in drawn],
        plots_installed=available(),
        tables=[_link(path, folder, path.name) for path in files],
    )


def _link(path: Path, folder: Path, name: str) -> Link:
    return Link(name, quote(path.relative_to(folder).as_posix()))


def _file_name(name: str) -> str:
    return re.sub(r"[^\w=(), .-]", "_", name)[:100]


def _write(path: Path, text: str) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise AssayError(f"cannot write {path}: {error.strerror}") from error
    return path
