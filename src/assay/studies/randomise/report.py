"""The randomisations of a plan: one table over all models and data sets, and one page each."""

from __future__ import annotations

from assay.experiments.results import open_model
from assay.experiments.study import Page, ReportContext, StudyReport
from assay.reports.grid_figures import draw
from assay.studies.randomise.figures import figures
from assay.studies.randomise.page import page
from assay.studies.randomise.result import Randomised
from assay.studies.randomise.study import Randomise


def report(context: ReportContext) -> StudyReport:
    pages = []
    for cell in context.cells:
        records = cell.records(context.store)
        if records is not None and isinstance(cell.study, Randomise):
            model, rows = open_model(cell.model, context.store), [row for record in records for row in record.rows]
            result = Randomised(model, cell.data.load(), cell.study, rows, cell.preset)
            pages.append(Page(cell.title, page(result)))
    return StudyReport(list(context.rows), pages, draw(context, figures))
