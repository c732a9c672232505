"""The report of a plan: tables of every study as CSV and JSON, a page per evaluation, and one that leads to all."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from assay.core.errors import AssayError
from assay.experiments.model_table import model_table
from assay.experiments.plan import Plan, StudyCell
from assay.experiments.results import evaluation, records, results
from assay.experiments.status import Status, status
from assay.experiments.store import Store
from assay.reports.figures import available
from assay.reports.plain_json import plain
from assay.reports.plan_figures import plan_figures
from assay.reports.style import style
from assay.studies.evaluate.result import Result
from assay.studies.evaluate.study import Evaluate

Table = Sequence[Mapping[str, Any]]


def report(
    plan: str | Path | Plan, output: str | Path, *, store: str | Path | None = None, ending: str = "png"
) -> list[Path]:
    """Write what is done of a plan into the folder `output`; returns the files.

    rows.csv and rows.json hold every number, STUDY.csv and STUDY.json the tables (an evaluation's with intervals and
    ranks), models.csv the models with their sizes, STUDY/MODEL on DATA.html the pages, figures/STUDY/NAME.png (`ending`
    "svg": .svg) the figures if the extra `plots` is installed; index.html leads to them and says what is missing.
    """
    found = status(plan, store)
    folder = Path(output)
    rows = results(found.plan, found.store)
    files = _tables(folder, "rows", rows)
    models = model_table(found.plan, found.store)
    files += _tables(folder, "models", models)
    drawn = plan_figures(rows, models, folder / "figures", ending) if available() else []
    studies: dict[str, list[Mapping[str, Any]]] = {}
    pages: dict[str, Path] = {}
    for cell in found.plan.cells:
        table, page = _cell(cell, found.store, folder)
        studies.setdefault(cell.study, []).extend(table)
        if page is not None:
            pages[cell.name] = page
    studies = {"train": _trainings(found), **studies}
    for study, table in studies.items():
        files += _tables(folder, study, table)
    index = _write(folder / "index.html", _index(found, pages, files, drawn, folder))
    return [index, *pages.values(), *files, *drawn]


def _cell(cell: StudyCell, store: Store, folder: Path) -> tuple[Table, Path | None]:
    """The table of one model and data set, and its page if it is an evaluation."""
    about = dict(cell.jobs[0].at) if cell.jobs else {}
    if not isinstance(cell.kind, Evaluate):
        found = records(cell, store) or []
        rows = [row for record, job in zip(found, cell.jobs, strict=False) for row in job.kind.tidy(record.rows, job)]
        return [{**about, **row} for row in rows], None
    made = evaluation(cell, store)
    if made is None:
        return [], None
    result = Result(made)
    path = folder / cell.study / f"{_file_name(cell.model.name)} on {_file_name(cell.data.name)}.html"
    _write(path, "")  # a folder that cannot be written says so here
    result.to_html(path)
    scores = {f"model_{name}": value for name, value in result.performance().items()}
    return [{**about, **row, **scores} for row in result.table()], path


def _trainings(found: Status) -> list[Mapping[str, Any]]:
    """A row per training with all scores of its validation."""
    out: list[Mapping[str, Any]] = []
    for job in found.plan.trainings:
        record = found.store.get(job.key)
        if record is not None:
            rows = record.rows
            scores = {f"validation_{name}": value for name, value in rows["validation"].items()}
            out.append({**job.at, **scores, "chance": rows["chance"], "majority": rows["majority"],
                        "steps": rows["steps"], "seconds": record.provenance["seconds"]})  # fmt: skip
    return out


def _tables(folder: Path, name: str, rows: Table) -> list[Path]:
    """One table as CSV and JSON; none if it has no rows."""
    if not rows:
        return []
    columns = list(dict.fromkeys(key for row in rows for key in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="")
    writer.writeheader()
    writer.writerows(rows)
    content = json.dumps(plain(list(rows)), indent=1, ensure_ascii=False) + "\n"
    return [_write(folder / f"{name}.csv", text.getvalue()), _write(folder / f"{name}.json", content)]


def _index(found: Status, pages: Mapping[str, Path], files: Sequence[Path], drawn: Sequence[Path], folder: Path) -> str:
    links = "".join(f"<li>{_link(path, folder, name)}</li>" for name, path in pages.items())
    tables = ", ".join(_link(path, folder, path.name) for path in files)
    figures = "".join(_figure(path, folder) for path in drawn)
    figures = figures or ("<p>none</p>" if available() else "<p>none: pip install 'assay[plots]'</p>")
    title = escape(found.plan.name)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>{style()}</style>'
        f"</head><body><main><h1>{title}</h1>{_states(found)}<h2>Evaluations</h2><ul>{links or '<li>none</li>'}</ul>"
        f"<h2>Figures</h2>{figures}<h2>Tables</h2><p>{tables or 'none'}</p></main></body></html>\n"
    )


def _states(found: Status) -> str:
    names = list(dict.fromkeys(found.states.values()))
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in ("study", "model", *names))
    body = "".join(
        f"<tr><td>{escape(study)}</td><td>{escape(model)}</td>"
        + "".join(f"<td>{counts[name] or ''}</td>" for name in names)
        + "</tr>"
        for (study, model), counts in found.counts().items()
    )
    reasons = "".join(
        f"<li>{state}, {count} jobs: {escape(reason)}</li>"
        for state in names
        for reason, count in (found.why(state).items() if state in ("failed", "blocked", "skipped") else ())
    )
    return f"<h2>Jobs</h2><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><ul>{reasons}</ul>"


def _figure(path: Path, folder: Path) -> str:
    name, address = escape(f"{path.parent.name}, {path.stem}"), quote(path.relative_to(folder).as_posix())
    return f'<h3>{name}</h3><figure><img src="{address}" alt="{name}" style="max-width:100%;height:auto"></figure>'


def _link(path: Path, folder: Path, name: str) -> str:
    return f'<a href="{quote(path.relative_to(folder).as_posix())}">{escape(name)}</a>'


def _file_name(name: str) -> str:
    return re.sub(r"[^\w=(), .-]", "_", name)[:100]


def _write(path: Path, text: str) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise AssayError(f"cannot write {path}: {error.strerror}") from error
    return path
