"""The evaluations of a plan: one table over all models and data sets, and one page each."""

from __future__ import annotations

from assay.experiments.job import Row
from assay.experiments.results import open_model
from assay.experiments.store import Store
from assay.experiments.study import Page, ReportContext, StudyCell, StudyReport
from assay.reports.grid_figures import draw
from assay.studies.evaluate.evaluation import Evaluation
from assay.studies.evaluate.figures import figures
from assay.studies.evaluate.page import page
from assay.studies.evaluate.result import Result
from assay.studies.evaluate.task import EvaluateTask


def report(context: ReportContext) -> StudyReport:
    """Tables and pages only of cells whose jobs are all finished: a verdict needs every example."""
    table: list[Row] = []
    pages: list[Page] = []
    for cell in context.cells:
        result = cell_result(cell, context.store)
        if result is not None:
            scores = {f"model_{name}": interval.value for name, interval in result.performance.items()}
            table += [{**cell.tags, **row, **scores} for row in result.table()]
            pages.append(Page(cell.title, page(result)))
    return StudyReport(table, pages, draw(context, figures))


def cell_result(cell: StudyCell, store: Store) -> Result | None:
    """A finished evaluation as `assay.evaluate` returns it."""
    records, task = cell.records(store), cell.jobs[0].task
    if records is None or not isinstance(task, EvaluateTask):
        return None
    return Result(Evaluation.join(task, open_model(cell.model, store), cell.data.load(), records, cell.preset))
