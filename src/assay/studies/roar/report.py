"""The ROAR studies of a plan: the table of their tidy rows, and one page for each base model and data set."""

from __future__ import annotations

from collections import defaultdict

from assay.experiments.study import Page, ReportContext, StudyReport
from assay.studies.roar.curves import Curves, curves
from assay.studies.roar.page import RoarPage


def report(context: ReportContext) -> StudyReport:
    groups: dict[str, list[Curves]] = defaultdict(list)
    for part in curves(context.cells, context.store):
        groups[f"{part.base} on {part.data}"].append(part)
    pages = [Page(title, RoarPage(parts).html()) for title, parts in groups.items()]
    return StudyReport(list(context.rows), pages)
