"""The status of a plan: the state of every job, counted by study and model."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from assay.core.printable import one_line
from assay.experiments.job import Job
from assay.experiments.plan import Plan
from assay.experiments.scheduler import Scheduler, State
from assay.experiments.store import Store


@dataclass(frozen=True, repr=False)
class Status:
    """States and reasons by key."""

    plan: Plan
    store: Store
    states: dict[str, State]
    reasons: dict[str, str]
    before: int = 0  # jobs that were done before the run

    def __repr__(self) -> str:
        states = ", ".join(f"{count} {state.value}" for state, count in Counter(self.states.values()).items())
        return f"<Status of {one_line(self.plan.name)!r}: {states or 'no jobs'}>"

    def counts(self) -> dict[tuple[str, str], Counter[State]]:
        """Number of jobs in each state, by study and model."""
        counts: dict[tuple[str, str], Counter[State]] = {}
        for key, job in self.plan.jobs.items():
            where = str(job.tags["study"]), str(job.tags["model"])
            counts.setdefault(where, Counter())[self.states[key]] += 1
        return counts

    def of(self, state: State) -> list[Job]:
        return [self.plan.jobs[key] for key, current in self.states.items() if current is state]

    @property
    def ok(self) -> bool:
        return not self.of(State.failed)

    def retrained(self) -> dict[str, int]:
        """Trained models whose records come from more than one set of weights, with the number of these sets."""
        weights: dict[str, set[str]] = {}
        for job in self.of(State.done):
            record = self.store.get(job.key)
            if record is not None and "weights" in record.provenance:  # older records do not say
                weights.setdefault(str(job.tags["model"]), set()).add(str(record.provenance["weights"]))
        return {model: len(found) for model, found in weights.items() if len(found) > 1}

    def why(self, state: State) -> dict[str, int]:
        """Every reason with the number of jobs it stopped."""
        jobs = self.of(state)
        return dict(Counter(f"{job.tags['study']} {job.tags['model']}: {self.reasons[job.key]}" for job in jobs))


def plan_status(plan: Plan, store: Store) -> Status:
    """The states of a plan's jobs; runs nothing."""
    scheduler = Scheduler(plan.jobs, store)
    scheduler.remember_failures()
    return Status(plan, store, scheduler.state, scheduler.reasons)
