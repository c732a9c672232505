"""assay.report: tables, pages and figures of a plan."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from assay.core.errors import SpecError
from assay.experiments.plan import Plan, open_plan
from assay.experiments.status import plan_status
from assay.experiments.store import Store
from assay.reports.plan_report import write_report


def report(
    plan: str | Path | Plan,
    output: str | Path,
    *,
    store: str | Path | Store | None = None,
    figure_format: Literal["png", "svg"] = "png",
) -> list[Path]:
    """Write the finished results of a plan into the folder `output`; return the files, the index first.

    rows.csv and rows.json hold every number, STUDY.csv and STUDY.json the table of each study (an evaluation's with
    intervals and tests), train.csv and models.csv the trained models, STUDY/ the pages, and figures/STUDY/ the figures
    (`figure_format` png or svg) if the extra `plots` is installed. index.html links to all and says what is missing.
    """
    if figure_format not in ("png", "svg"):
        raise SpecError(f"figure_format={figure_format!r}: give 'png' or 'svg'")
    return write_report(plan_status(*open_plan(plan, store)), Path(output), figure_format)
