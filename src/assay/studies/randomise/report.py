"""The randomisations of a plan: one table over all models and data sets, and one page each."""

from __future__ import annotations

from assay.experiments.study import ReportContext, StudyReport
from assay.reports.cell_pages import cell_pages
from assay.reports.grid_figures import draw
from assay.studies.randomise.figures import figures
from assay.studies.randomise.page import page
from assay.studies.randomise.result import Randomised
from assay.studies.randomise.study import Randomise


def report(context: ReportContext) -> StudyReport:
    return StudyReport(list(context.rows), cell_pages(context, Randomise, Randomised, page), draw(context, figures))
