"""The simulability studies of a plan: the table of their tidy rows, and one page for each teacher and data set."""

from __future__ import annotations

from assay.experiments.study import Page, ReportContext, StudyReport
from assay.studies.simulate.page import page
from assay.studies.simulate.result import Simulated, simulated


def report(context: ReportContext) -> StudyReport:
    found = simulated(context.cells, context.store)
    pages = [Page(group.title, page(Simulated([group]))) for group in found.students]
    return StudyReport(list(context.rows), pages)
