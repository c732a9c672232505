"""assay.status: which jobs of a plan are done, missing, failed or skipped."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from assay.experiments.plan import Plan, open_plan, select_jobs
from assay.experiments.status import Status, plan_status
from assay.experiments.store import Store


def status(
    plan: str | Path | Plan, *, store: str | Path | Store | None = None, only: Mapping[str, str] | str | None = None
) -> Status:
    """The state of every job of a plan, and the reason for each that failed or was skipped. Runs nothing."""
    opened, opened_store = open_plan(plan, store)
    return plan_status(select_jobs(opened, only or {}), opened_store)
