"""assay.results: every number of a plan."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from assay.experiments.plan import Plan, open_plan
from assay.experiments.results import tidy_results
from assay.experiments.store import Store


def results(plan: str | Path | Plan, *, store: str | Path | Store | None = None) -> list[dict[str, Any]]:
    """One row per number of the finished jobs of a plan: study, model, data, then what the study adds.

    An evaluation adds method, metric, example and value; a training adds metric and value. Unfinished jobs have none.
    """
    return tidy_results(*open_plan(plan, store))
