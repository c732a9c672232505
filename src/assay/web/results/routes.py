"""The addresses of the results page."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response, StreamingResponse

from assay.core.csv_table import csv_table
from assay.core.errors import InputError
from assay.experiments.runs import PLAN, Run, all_runs, find_run, page_of
from assay.experiments.store import Store
from assay.reports.symbols import format_interval
from assay.web.pages import page, see_other
from assay.web.results import numbers
from assay.web.results.files import Reports, figure
from assay.web.results.state import started, state_of, unclaimed
from assay.web.security import REPORT_POLICY
from assay.web.site import part_of
from assay.web.visitor import member

router = APIRouter(prefix="/results", dependencies=[Depends(member)])
TICK = 1.0  # seconds between looks at a running plan
LISTED = 300  # runs on the page
Id = Annotated[str, Path(pattern=r"^[0-9a-f]{16}$")]
Choice = Annotated[list[str] | None, Query(max_length=20)]


@router.get("")
def results_page(request: Request) -> Response:
    """All runs of the store, newest first."""
    store = _reports(request).store
    runs = all_runs(store)
    return page(
        request, "web/results/list.html.jinja", title="Results", states=[state_of(run, store) for run in runs[:LISTED]],
        more=max(0, len(runs) - LISTED), unclaimed=unclaimed(store, runs), evaluate=numbers.EVALUATE,
    )  # fmt: skip


@router.get("/compare")
def compare_page(request: Request, run: Choice = None) -> Response:
    """Two evaluations side by side."""
    first, second, changes = _changes(request, run)
    metrics: dict[str, list[Any]] = {}
    for change in changes:
        metrics.setdefault(change.metric, []).append(change)
    return page(
        request, "web/results/compare.html.jinja", title="Two evaluations", first=first, second=second,
        metrics=metrics, paired=all(change.paired for change in changes), shown=_shown, started=started,
    )  # fmt: skip


@router.get("/compare.csv")
def compare_table(request: Request, run: Choice = None) -> Response:
    _, _, changes = _changes(request, run)
    rows = [_flat(asdict(change)) | {"verdict": change.verdict} for change in changes]
    return _csv(rows, "comparison")


@router.get("/{run}")
def run_page(request: Request, run: Id) -> Response:
    """One run: its state, numbers and files."""
    reports, found = _reports(request), _run(request, run)
    records = numbers.records_of(found, reports.store)
    return page(
        request, "web/results/run.html.jinja", title=found.title, state=state_of(found, reports.store),
        table=_by_metric(numbers.table(records)), report=page_of(reports.store, found.id) is not None,
        is_plan=found.kind == PLAN, files=reports.names(found.id), records=len(records), shown=_shown,
    )  # fmt: skip


@router.get("/{run}/events")
def run_events(request: Request, run: Id) -> StreamingResponse:
    """The state of a running plan as server-sent events; the last one is called `ended`."""
    store, found = _reports(request).store, _run(request, run)
    headers = {"Cache-Control": "no-store"}
    return StreamingResponse(_events(found, store), media_type="text/event-stream", headers=headers)


@router.get("/{run}/report")
def report_page(request: Request, run: Id) -> Response:
    """The page that a command wrote: self-contained, with a stylesheet inside and no script."""
    html = page_of(_reports(request).store, _run(request, run).id)
    if html is None:
        raise HTTPException(404)
    return Response(html, media_type="text/html; charset=utf-8", headers={"Content-Security-Policy": REPORT_POLICY})


@router.get("/{run}/rows.csv")
def rows_table(request: Request, run: Id) -> Response:
    """Every number of a run."""
    return _csv(numbers.tidy(numbers.records_of(_run(request, run), _reports(request).store)), "rows")


@router.get("/{run}/table.csv")
def means_table(request: Request, run: Id) -> Response:
    """The means with their intervals."""
    return _csv(numbers.table(numbers.records_of(_run(request, run), _reports(request).store)), "table")


@router.get("/{run}/figure.svg")
def means_figure(request: Request, run: Id) -> Response:
    table = numbers.table(numbers.records_of(_run(request, run), _reports(request).store))
    if not table:
        raise HTTPException(404)
    return _download(figure(table), "image/svg+xml", "figure.svg")


@router.post("/{run}/report")
def build_report(request: Request, run: Id) -> Response:
    """Write the report of a plan."""
    found = _run(request, run)
    _reports(request).build(found)
    return see_other(f"/results/{found.id}#report")


@router.get("/{run}/files/{number}")
def report_file(request: Request, run: Id, number: Annotated[int, Path(ge=0, le=100_000)]) -> Response:
    """One file of a plan's report."""
    found = _reports(request).read(run, number)
    if found is None:
        raise HTTPException(404)
    content, media_type = found
    return Response(content, media_type=media_type, headers={"Content-Security-Policy": REPORT_POLICY})


def _reports(request: Request) -> Reports:
    reports: Reports = part_of(request, "results")
    return reports


def _run(request: Request, run_id: str) -> Run:
    run = find_run(_reports(request).store, run_id)
    if run is None:
        raise HTTPException(404)
    return run


def _changes(request: Request, chosen: Sequence[str] | None) -> tuple[Run, Run, list[numbers.Change]]:
    if chosen is None or len(chosen) != 2:
        raise InputError(f"{len(chosen or ())} evaluations are chosen; choose two to compare them")
    runs = (_run(request, run_id) for run_id in chosen)
    first, second = sorted(runs, key=lambda run: run.started)  # a change leads from the older to the newer one
    store = _reports(request).store
    return first, second, numbers.compare(numbers.records_of(first, store), numbers.records_of(second, store))


def _by_metric(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Best first."""
    metrics: dict[str, list[Mapping[str, Any]]] = {}
    for row in sorted(rows, key=lambda row: row["mean"] if row["better"] == "lower" else -row["mean"]):
        metrics.setdefault(row["metric"], []).append(row)
    return metrics


def _shown(value: float, low: float, high: float) -> tuple[str, str]:
    """A value and its interval."""
    number, bounds = format_interval(value, low, high)
    return number.replace("-", "−"), bounds.replace("-", "−")


def _flat(change: Mapping[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, value in change.items():
        out |= {f"{name}_{part}": v for part, v in value.items()} if isinstance(value, Mapping) else {name: value}
    return out


def _csv(rows: Sequence[Mapping[str, Any]], name: str) -> Response:
    return _download(csv_table(rows).encode("utf-8", "backslashreplace"), "text/csv; charset=utf-8", f"{name}.csv")


def _download(content: bytes, media_type: str, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=media_type, headers=headers)


async def _events(run: Run, store: Store) -> AsyncIterator[str]:
    last = None
    while True:
        state = await asyncio.to_thread(state_of, run, store)
        if state.to_dict() != last:
            last = state.to_dict()
            yield f"data: {json.dumps(last)}\n\n"
        if not state.running:
            break
        await asyncio.sleep(TICK)
    yield "event: ended\ndata: {}\n\n"
