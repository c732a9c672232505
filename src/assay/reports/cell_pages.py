"""Pages of the cells of a plan whose result is made of all their rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from assay.experiments.results import open_model
from assay.experiments.study import Page, ReportContext
from assay.reports.study_result import StudyResult

Result = TypeVar("Result", bound=StudyResult)


def cell_pages(
    context: ReportContext, study: type, result: Callable[..., Result], page: Callable[[Result], Any]
) -> list[Page]:
    """One page for each finished cell of a kind of study."""
    pages = []
    for cell in context.cells:
        records = cell.records(context.store)
        if records is not None and isinstance(cell.study, study):
            rows = [row for record in records for row in record.rows]
            made = result(open_model(cell.model, context.store), cell.data.load(), cell.study, rows, cell.preset)
            pages.append(Page(cell.title, page(made)))
    return pages
