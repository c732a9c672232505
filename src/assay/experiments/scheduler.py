"""The scheduler: which jobs are done, which can start, and what the end of a job means for the others."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Mapping
from enum import StrEnum

from assay.core.errors import StoreError
from assay.experiments.job import Job
from assay.experiments.leases import Lease
from assay.experiments.store import Record, Store
from assay.experiments.worker import Outcome


class State(StrEnum):
    """The state of a job."""

    done = "done"
    missing = "missing"
    running = "running"
    failed = "failed"
    skipped = "skipped"  # a model it needs does not meet its requirement
    blocked = "blocked"  # a job it needs failed


class Scheduler:
    """The graph of a plan's jobs over a store. In `jobs`, each job follows those it needs."""

    def __init__(
        self, jobs: Mapping[str, Job], store: Store, *, keep: bool = False, lease: Lease | None = None
    ) -> None:
        self.jobs, self.store, self.keep = jobs, store, keep
        self.lease = lease or Lease(store.artifacts.folder)  # what other runs of this store may not delete
        self.state = dict.fromkeys(jobs, State.missing)
        self.reasons: dict[str, str] = {}
        self.dependants: dict[str, list[str]] = defaultdict(list)
        for key, job in jobs.items():
            for need in job.needs:
                if need not in jobs:
                    raise StoreError(f"{job.name} needs the job {need}, which is not in the plan")
                self.dependants[need].append(key)
        self._read_states()
        self.ready: dict[str, deque[str]] = defaultdict(deque)  # by group
        for key in jobs:
            self._queue(key)

    # --- before it starts ------------------------------------------------------------------------------------------

    def _read_states(self) -> None:
        """Read every stored record, so that a corrupt one is found before hours of work, not after."""
        for key in self.jobs:
            if self.store.get(key) is not None:
                self.state[key] = State.done
        for key in self.jobs:
            if self.state[key] is State.missing:
                self._check_needs(key)
        for key in reversed(list(self.jobs)):  # rebuild a deleted artefact that a job still needs
            wanted = any(self.state[d] is State.missing and not self._only_skims(d, key) for d in self.dependants[key])
            if wanted and self.jobs[key].artifact and not self.store.artifacts.has(key):
                self.state[key] = State.missing

    def _only_skims(self, dependant: str, key: str) -> bool:
        """Whether what is left of a deleted artefact is enough for a job that needs it."""
        return key in self.jobs[dependant].skims and self.store.artifacts.found(key).is_dir()

    @property
    def todo(self) -> int:
        """Number of jobs left to run, as far as is known."""
        return sum(state in (State.missing, State.running) for state in self.state.values())

    def running(self) -> str:
        """Names of the running jobs, for the progress bar."""
        names = [self.jobs[key].name for key, state in list(self.state.items()) if state is State.running]
        return ", ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")

    def remember_failures(self) -> None:
        """Restore the failures of the last run, for a report; a run tries them again."""
        for key in self.jobs:
            note = self.store.note("failed", key) if self.state[key] is State.missing else None
            if note is not None:
                self._end(key, State.failed, str(note["error"]))
            elif self.state[key] is State.missing:
                self._check_needs(key)

    # --- while it runs ---------------------------------------------------------------------------------------------

    def take(self, held: str | None = None, elsewhere: Collection[str] = ()) -> Job | None:
        """A job that can start: of the model that the worker holds, or else of one that no other worker holds."""
        groups = [group for group, keys in self.ready.items() if keys]
        if not groups:
            return None
        if held not in groups:
            free = [group for group in groups if group not in elsewhere] or groups
            held = max(free, key=self._weight)
        key = self.ready[str(held)].popleft()
        self.state[key] = State.running
        return self.jobs[key]

    def _weight(self, group: str) -> int:
        """Jobs of a group and those waiting for them: the largest group goes first, so that workers finish together."""
        return sum(1 + len(self.dependants[key]) for key in self.ready[group])

    def requeue(self, job: Job) -> None:
        """Put a job whose worker died at the front of its group."""
        self.state[job.key] = State.missing
        self.ready[job.group].appendleft(job.key)

    def finish(self, job: Job, outcome: Outcome) -> None:
        self.state[job.key] = State(outcome.state)
        if outcome.state == "failed":
            self.reasons[job.key] = outcome.error
        self._update_dependants(job.key)
        for need in job.needs:
            self._discard_artifact(need)

    def close(self) -> None:
        """Delete artefacts left by a killed run."""
        for key in self.jobs:
            self._discard_artifact(key)

    def _update_dependants(self, key: str) -> None:
        for dependant in self.dependants[key]:
            if self.state[dependant] is State.missing:
                self._check_needs(dependant)
                if self.state[dependant] is State.missing:
                    self._queue(dependant)
                else:
                    self._update_dependants(dependant)
        self._discard_artifact(key)

    def _queue(self, key: str) -> None:
        """Queue a job if all jobs it needs are done; called once per job."""
        job = self.jobs[key]
        if self.state[key] is State.missing and all(self.state[need] is State.done for need in job.needs):
            self.ready[job.group].append(key)

    def _check_needs(self, key: str) -> None:
        """End a job if one that it needs failed, was skipped, or does not meet its requirement."""
        job = self.jobs[key]
        for need in job.needs:
            if self.state[need] is State.failed:
                self._end(key, State.blocked, f"{self.jobs[need].name}: {self.reasons[need]}")
            elif self.state[need] is State.blocked:  # the reason names the job that failed
                self._end(key, State.blocked, self.reasons[need])
            elif self.state[need] is State.skipped:
                self._end(key, State.skipped, self.reasons[need])
            elif self.state[need] is State.done and (reason := self._unmet_requirement(job, need)):
                self._end(key, State.skipped, reason)

    def _unmet_requirement(self, job: Job, need: str) -> str | None:
        if job.model is None or job.model.requires is None or need not in job.model.needs:
            return None
        with self.store.expecting_form(need):
            return job.model.requires.unmet(self._record(need).rows)

    def _record(self, key: str) -> Record:
        record = self.store.get(key)
        if record is None:
            raise StoreError(f"the record {self.store.path(key)} disappeared during the run. Run again.")
        return record

    def _end(self, key: str, state: State, reason: str) -> None:
        self.state[key], self.reasons[key] = state, reason

    def _discard_artifact(self, key: str) -> None:
        """Delete an artefact that no job needs any more; a failed job will need it again."""
        job, ends = self.jobs[key], [self.state[d] for d in self.dependants[key]]
        if (
            not job.artifact
            or self.keep
            or job.keep
            or not (ends or job.temporary)
            or self.state[key] is not State.done
        ):
            return
        if all(state in (State.done, State.skipped) for state in ends) and self.store.artifacts.path(key).is_dir():
            with self.lease.alone(key) as alone:
                if alone:  # otherwise the last run that needs it deletes it
                    self.store.artifacts.discard(key, job.kept_files)
