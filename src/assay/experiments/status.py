"""How far a plan is: every job's state, counted by study and model."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from assay.experiments.job import Job
from assay.experiments.plan import Plan, read_plan
from assay.experiments.scheduler import Scheduler, State
from assay.experiments.store import Store, default_folder


@dataclass(frozen=True)
class Status:
    """States and reasons by key."""

    plan: Plan
    store: Store
    states: dict[str, State]
    reasons: dict[str, str]
    before: int = 0  # jobs that were done before the run that this is the end of

    def counts(self) -> dict[tuple[str, str], Counter[State]]:
        """How many jobs are in each state, by study and model."""
        found: dict[tuple[str, str], Counter[State]] = {}
        for key, job in self.plan.jobs.items():
            where = str(job.at["study"]), str(job.at["model"])
            found.setdefault(where, Counter())[self.states[key]] += 1
        return found

    def of(self, state: State) -> list[Job]:
        return [self.plan.jobs[key] for key, found in self.states.items() if found is state]

    @property
    def ok(self) -> bool:
        return not self.of(State.failed)

    def why(self, state: State) -> dict[str, int]:
        """Each reason with the number of jobs that it stopped."""
        jobs = self.of(state)
        return dict(Counter(f"{job.at['study']} {job.at['model']}: {self.reasons[job.key]}" for job in jobs))


def status(plan: str | Path | Plan, store: str | Path | Store | None = None) -> Status:
    """Look, and run nothing."""
    kept = store if isinstance(store, Store) else Store(Path(store) if store is not None else default_folder())
    found = plan if isinstance(plan, Plan) else read_plan(plan, kept)
    scheduler = Scheduler(found.jobs, kept)
    scheduler.remember_failures()
    return Status(found, kept, scheduler.state, scheduler.reasons)
