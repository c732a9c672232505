"""The attacks of a plan: one table over all models and data sets, and one page each."""

from __future__ import annotations

from assay.experiments.study import ReportContext, StudyReport
from assay.reports.cell_pages import cell_pages
from assay.reports.grid_figures import draw
from assay.studies.attack.figures import figures
from assay.studies.attack.page import page
from assay.studies.attack.result import Attacked
from assay.studies.attack.study import Attack


def report(context: ReportContext) -> StudyReport:
    return StudyReport(list(context.rows), cell_pages(context, Attack, Attacked, page), draw(context, figures))
