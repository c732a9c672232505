"""A worker: runs jobs one after another, keeping the model of its last job in memory."""

from __future__ import annotations

import platform
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
import torch
import transformers

from assay.core.errors import AssayError, StoreError
from assay.core.notices import said_once
from assay.core.progress import Progress
from assay.experiments.job import Job, JobContext, JobResult
from assay.experiments.references import AnyModel, TrainedModel
from assay.experiments.store import Record, Store, canonical
from assay.explainers.learned.parts.method import explainers_at
from assay.models.model import Model


@dataclass(frozen=True)
class Outcome:
    """How a job ended."""

    state: Literal["done", "failed"]
    seconds: float = 0.0
    error: str = ""


@dataclass
class Worker:
    """Turns jobs into records. Jobs come grouped by model, so it holds one model at a time."""

    store: Store
    _reference: AnyModel | None = None
    _model: Model | None = field(default=None, repr=False)

    def model(self, reference: AnyModel) -> Model:
        if self._model is None or reference != self._reference:
            self._forget_model()  # first, because memory may not hold two models
            self._model = reference.open(self.store.artifacts)
            self._reference = reference
        return self._model

    def _forget_model(self) -> None:
        self._reference, self._model = None, None

    def compute(self, job: Job, bar: Progress | None = None) -> Record:
        """Run a job and return its record; its artefact is complete by then."""
        start = time.perf_counter()
        output: AbstractContextManager[Path | None]
        output = self.store.artifacts.making(job.key) if job.artifact else nullcontext()
        with output as folder, explainers_at(self.store.artifacts.places):
            rows = job.task.run(JobContext(job, self, bar or Progress("", None, show=False), folder))
        result = rows if isinstance(rows, JobResult) else JobResult(rows)
        timing = {"took": time.perf_counter() - start, "created": time.time()}
        return Record(
            job.key, job.spec, result.rows, {**versions(), **timing, **self._weights(job), **result.provenance}
        )

    def _weights(self, job: Job) -> dict[str, str]:
        """Which weights a trained model had: keys name its training, and that may give others when it is repeated."""
        trained = isinstance(self._reference, TrainedModel) and self._reference.key in job.needs
        return {"weights": self._model.fingerprint} if trained and self._model is not None else {}

    def load_or_compute(self, job: Job, bar: Progress, steps: int) -> Record:
        """The stored record of a job, or a new one; `steps` is what the job counts for on the progress bar."""
        record = self.store.get(job.key)
        if record is not None:
            bar.advance(steps)
            return record
        record = self.compute(job, bar)
        self.store.put(record)
        return record

    @said_once  # in a process of its own; otherwise `run` says it
    def execute(self, job: Job) -> Outcome:
        """Run a job and store its record. An error is stored with its traceback; only store errors are raised."""
        start = time.perf_counter()
        try:
            record = self.compute(job)
        except StoreError:
            raise
        except Exception as error:
            self._forget_model()  # the error may have left it changed
            message = error_message(error)
            store_failure(self.store, job, message, "".join(traceback.format_exception(error)))
            return Outcome("failed", time.perf_counter() - start, message)
        self._compare(job, record)
        self.store.put(record)
        self.store.drop_note("failed", job.key)
        return Outcome("done", time.perf_counter() - start)

    def _compare(self, job: Job, record: Record) -> None:
        """Warn if an artefact that was deleted and rebuilt differs: other records were computed from it."""
        previous = self.store.get(job.key)
        if previous is not None and canonical(previous.rows) != canonical(record.rows):
            versions_then = ", ".join(f"{k} {previous.provenance.get(k)}" for k in ("assay", "torch", "transformers"))
            warnings.warn(
                f"{job.name} was rerun and gave a different result from before (with {versions_then}). "
                "Records computed from the first result are kept.",
                stacklevel=2,
            )


def store_failure(store: Store, job: Job, message: str, trace: str = "") -> None:
    """Store why a job has no record."""
    store.put_note("failed", job.key, {"key": job.key, "tags": dict(job.tags), "error": message, "traceback": trace})


def error_message(error: Exception) -> str:
    """The first line of an error, with the type of errors that are not Assay's."""
    first = (str(error).strip() or "no message").splitlines()[0]
    return first if isinstance(error, AssayError) else f"{type(error).__name__}: {first}"


def versions() -> dict[str, str]:
    """The versions of everything that computes numbers."""
    from assay import __version__

    return {
        "assay": __version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "numpy": np.__version__,
    }


@contextmanager
def threads(count: int | None) -> Iterator[None]:
    """Limit torch to a number of threads; None changes nothing."""
    previous = torch.get_num_threads()
    torch.set_num_threads(count or previous)
    try:
        yield
    finally:
        torch.set_num_threads(previous)
