"""The state of a run: which of its jobs are done, failed or skipped, and whether it is still running."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.core.errors import StoreError
from assay.core.names import shareable
from assay.experiments.runs import Run, RunJob, is_running
from assay.experiments.store import Note, Store

NOTES: tuple[tuple[Note, str], ...] = (("failed", "error"), ("skipped", "reason"))


@dataclass(frozen=True)
class RunState:
    """A run as it stands."""

    run: Run
    running: bool
    states: Mapping[str, str]  # by key: done, failed, skipped or missing
    reasons: Mapping[str, str]

    @property
    def counts(self) -> Counter[str]:
        return Counter(self.states.values())

    @property
    def done(self) -> int:
        return self.counts["done"]

    @property
    def total(self) -> int:
        return len(self.states)

    @property
    def word(self) -> str:
        """One word for the list."""
        if self.running:
            return "running"
        if self.counts["failed"]:
            return "failed"
        return "interrupted" if self.counts["missing"] else "done"

    @property
    def when(self) -> str:
        return started(self.run)

    def by_study(self) -> list[tuple[str, str, Counter[str]]]:
        """Counts of states by study and model."""
        counts: dict[tuple[str, str], Counter[str]] = {}
        for job in self.run.jobs:
            counts.setdefault((job.study, job.model), Counter())[self.states[job.key]] += 1
        return [(study, model, count) for (study, model), count in counts.items()]

    def failures(self) -> list[tuple[RunJob, str, str]]:
        """Jobs that failed or were skipped, and why."""
        return [(job, self.states[job.key], self.reasons[job.key]) for job in self.run.jobs if job.key in self.reasons]

    def to_dict(self) -> dict[str, Any]:
        return {"word": self.word, "done": self.done, "total": self.total, "counts": dict(self.counts)}


def started(run: Run) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(run.started))


def state_of(run: Run, store: Store) -> RunState:
    states: dict[str, str] = {}
    reasons: dict[str, str] = {}
    for job in run.jobs:
        states[job.key], reason = _state(job.key, store)
        if reason:
            reasons[job.key] = shareable(reason)
    return RunState(run, is_running(store, run), states, reasons)


def _state(key: str, store: Store) -> tuple[str, str]:
    if store.has(key):
        return "done", ""
    for note, field in NOTES:
        try:
            content = store.note(note, key)
        except StoreError as error:
            return note, str(error)
        if content is not None:
            return note, str(content[field])
    return "missing", ""


def unclaimed(store: Store, runs: Sequence[Run]) -> int:
    """The number of records that belong to no run: of earlier versions of Assay, or unpacked from an archive."""
    claimed = {job.key for run in runs for job in run.jobs}
    return sum(path.stem not in claimed for path in store.folder.glob("[0-9a-f][0-9a-f]/*.json"))
