"""The report of a plan: tables of every study as CSV and JSON, pages, figures, and an index of all of them."""

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
from assay.experiments.results import training_rows
from assay.experiments.status import Status
from assay.experiments.study import ReportContext, StudyReport, tidy_rows
from assay.reports.figures import available
from assay.reports.method_style import short_names
from assay.reports.plain_json import plain
from assay.reports.style import style

Table = Sequence[Mapping[str, Any]]


def write_report(status: Status, folder: Path, ending: str) -> list[Path]:
    """Write what is done of a plan into a folder; returns the files, the index first."""
    plan, store = status.plan, status.store
    rows = {name: tidy_rows(cells, store) for name, cells in plan.studies().items()}
    models, methods = model_table(plan, store), _methods(rows)
    figures = folder / "figures" if available() else None
    studies = {
        name: cells[0].study.report(ReportContext(cells, store, rows[name], models, methods, figures, ending))
        for name, cells in plan.studies().items()
    }
    all_rows = [*training_rows(plan, store), *(row for part in rows.values() for row in part)]
    tables: dict[str, Table] = {"rows": all_rows, "models": models, "train": _trainings(status)}
    tables |= {name: study.table for name, study in studies.items()}
    files = [path for name, table in tables.items() for path in _write_table(folder, name, table)]
    pages = {page.title: path for name, study in studies.items() for page, path in _write_pages(folder, name, study)}
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


def _write_pages(folder: Path, name: str, study: StudyReport) -> list[tuple[Any, Path]]:
    return [(page, _write(folder / name / f"{_file_name(page.title)}.html", page.html)) for page in study.pages]


def _trainings(status: Status) -> list[Mapping[str, Any]]:
    """A row per training with all scores of its validation."""
    out: list[Mapping[str, Any]] = []
    for job in status.plan.trainings:
        record = status.store.get(job.key)
        if record is not None:
            rows = record.rows
            scores = {f"validation_{name}": value for name, value in rows["validation"].items()}
            out.append({**job.tags, **scores, "chance": rows["chance"], "majority": rows["majority"],
                        "steps": rows["steps"], "seconds": record.provenance["seconds"]})  # fmt: skip
    return out


def _write_table(folder: Path, name: str, rows: Table) -> list[Path]:
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


def _index(
    status: Status, pages: Mapping[str, Path], files: Sequence[Path], drawn: Sequence[Path], folder: Path
) -> str:
    links = "".join(f"<li>{_link(path, folder, name)}</li>" for name, path in pages.items())
    tables = ", ".join(_link(path, folder, path.name) for path in files)
    figures = "".join(_figure(path, folder) for path in drawn)
    figures = figures or ("<p>none</p>" if available() else "<p>none: pip install 'assay[plots]'</p>")
    title = escape(status.plan.name)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>{style()}</style>'
        f"</head><body><main><h1>{title}</h1>{_states(status)}<h2>Pages</h2><ul>{links or '<li>none</li>'}</ul>"
        f"<h2>Figures</h2>{figures}<h2>Tables</h2><p>{tables or 'none'}</p></main></body></html>\n"
    )


def _states(status: Status) -> str:
    names = list(dict.fromkeys(status.states.values()))
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in ("study", "model", *names))
    body = "".join(
        f"<tr><td>{escape(study)}</td><td>{escape(model)}</td>"
        + "".join(f"<td>{counts[name] or ''}</td>" for name in names)
        + "</tr>"
        for (study, model), counts in status.counts().items()
    )
    reasons = "".join(
        f"<li>{state}, {count} jobs: {escape(reason)}</li>"
        for state in names
        for reason, count in (status.why(state).items() if state in ("failed", "blocked", "skipped") else ())
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
