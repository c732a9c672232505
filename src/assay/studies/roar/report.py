"""The ROAR studies of a plan: the table of their tidy rows, and one page for each base model and data set."""

from __future__ import annotations

from collections import defaultdict

from assay.experiments.study import Page, ReportContext, StudyReport
from assay.studies.roar.curves import Curves, curves
from assay.studies.roar.page import page
from assay.studies.roar.result import RoarResult


def report(context: ReportContext) -> StudyReport:
    groups: dict[str, list[Curves]] = defaultdict(list)
    for of_study in curves(context.cells, context.store):
        groups[f"{of_study.base} on {of_study.data}"].append(of_study)
    pages = [Page(title, page(RoarResult(group, preset=context.cells[0].preset))) for title, group in groups.items()]
    return StudyReport(list(context.rows), pages)
