"""Runs: what was started on a store, and when. Records alone do not tell which of them belong together.

runs/ID.json names the jobs of a run, runs/ID.html is its page if there is one, and runs/ID.lock is held while it runs.
The id follows from the jobs, so that a run which is resumed is the same run.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from assay.core.errors import AssayError, StoreError
from assay.core.files import write_file
from assay.core.locks import released, try_lock
from assay.core.names import shareable
from assay.experiments.job import Job
from assay.experiments.store import Store, read_json, write

ID = re.compile(r"[0-9a-f]{16}")
PLAN = "plan"


@dataclass(frozen=True)
class RunJob:
    """A job of a run: its key in the store and its place."""

    key: str
    name: str
    study: str
    model: str


@dataclass(frozen=True)
class Run:
    """One call of a verb or command on a store."""

    kind: str  # a study, or "plan"
    title: str
    jobs: tuple[RunJob, ...]
    facts: Mapping[str, str] = field(default_factory=dict)  # for people: model, data, settings
    plan: str | None = None  # file of the plan
    started: float = field(default_factory=time.time)
    ended: float | None = None

    @property
    def id(self) -> str:
        keys = [self.kind, self.title, *sorted(job.key for job in self.jobs)]
        return hashlib.sha256("\n".join(keys).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def run_of(kind: str, title: str, jobs: Sequence[Job], facts: Mapping[str, str], plan: str | None = None) -> Run:
    noted = [
        RunJob(job.key, shareable(job.name), str(job.tags.get("study", kind)), str(job.tags.get("model", "")))
        for job in jobs
    ]
    return Run(kind, shareable(title), tuple(noted), {name: shareable(text) for name, text in facts.items()}, plan)


class Latest:
    """The run that this process noted last: a command keeps the page it writes beside that note."""

    run: tuple[Store, str] | None = None


@contextmanager
def noted(run: Run, store: Store) -> Iterator[None]:
    """Note a run in the store while it lasts. A store that cannot be written holds no notes."""
    path = _path(store, run.id)
    Latest.run = None
    try:
        write(path, _text(run), "run")
        Latest.run = store, run.id
        held = try_lock(path.with_suffix(".lock"))
    except (OSError, StoreError):
        yield
        return
    if held is None:  # another process runs the same
        yield
        return
    with released(path.with_suffix(".lock"), held):
        try:
            yield
        finally:
            with suppress(StoreError):
                write(path, _text(replace(run, ended=time.time())), "run")


def all_runs(store: Store) -> list[Run]:
    """The runs of a store, newest first; a note that cannot be read is left out."""
    runs = [_read(path) for path in (store.folder / "runs").glob("*.json")]
    return sorted((run for run in runs if run is not None), key=lambda run: -run.started)


def find_run(store: Store, run_id: str) -> Run | None:
    return _read(_path(store, run_id)) if ID.fullmatch(run_id) else None


def is_running(store: Store, run: Run) -> bool:
    """Whether a process is at it now."""
    path = _path(store, run.id).with_suffix(".lock")
    if not path.exists():
        return False
    try:
        held = try_lock(path)
    except OSError:
        return False
    if held is None:
        return True
    with released(path, held):  # of a process that was killed
        return False


def keep_page(file: Path) -> None:
    """Keep a page beside the note of the latest run; a store that cannot be written keeps none."""
    if Latest.run is not None:
        store, run_id = Latest.run
        with suppress(OSError, AssayError):
            write_file(_path(store, run_id).with_suffix(".html"), file.read_bytes())


def page_of(store: Store, run_id: str) -> str | None:
    path = _path(store, run_id).with_suffix(".html")
    return path.read_text(encoding="utf-8") if ID.fullmatch(run_id) and path.is_file() else None


def _path(store: Store, run_id: str) -> Path:
    return store.folder / "runs" / f"{run_id}.json"


def _text(run: Run) -> bytes:
    return json.dumps(asdict(run)).encode()


def _read(path: Path) -> Run | None:
    try:
        content: Any = read_json(path.read_text(encoding="utf-8"))
        jobs = tuple(RunJob(**job) for job in content.pop("jobs"))
        return Run(jobs=jobs, **content)
    except (OSError, ValueError, TypeError, AttributeError, KeyError):
        return None
