"""assay.run: run the jobs of a plan."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from assay.core.notices import said_once
from assay.experiments.engines import make_engine
from assay.experiments.plan import Plan, open_plan, select_jobs
from assay.experiments.runner import Watch, run_plan
from assay.experiments.status import Status
from assay.experiments.store import Store


@said_once
def run(
    plan: str | Path | Plan,
    *,
    store: str | Path | Store | None = None,
    engine: str = "local",
    workers: int | None = None,
    address: str | None = None,
    threads: int | None = None,
    keep: bool = False,
    only: Mapping[str, str] | str | None = None,
    progress: bool | None = None,
    watch: Watch | None = None,
) -> Status:
    """Run the jobs of a plan that are not done yet. Call it again to resume.

    plan: a YAML file (docs/runs.md). store: a folder for records and trained models; None is a cache folder.
    engine: "local", or "ray" with a number of `workers`, on this machine or on the cluster at `address`.
    threads: of each worker. keep: keep trained models that no remaining job needs. only: run the jobs whose
    tags have these values, e.g. {"seed": "1"} or "seed=1", and the jobs they need. watch: called after every job.
    A job that fails is reported and does not stop the others.
    """
    runner = make_engine(engine, workers=workers, address=address, threads=threads)
    opened, opened_store = open_plan(plan, store)
    selected = select_jobs(opened, only or {})
    return run_plan(
        selected,
        opened_store,
        runner,
        keep=keep,
        progress=progress,
        watch=watch,
        file=None if isinstance(plan, Plan) else plan,
    )
