"""A bench: what a worker keeps from job to job (one model), and how a job becomes a record or a failure."""

from __future__ import annotations

import platform
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import torch
import transformers

from assay.core.errors import AssayError, StoreError
from assay.core.progress import Progress
from assay.experiments.job import Job, JobContext, JobResult
from assay.experiments.references import AnyModel
from assay.experiments.store import Record, Store, canonical
from assay.models.model import Model


@dataclass(frozen=True)
class Outcome:
    """How a job ended."""

    state: Literal["done", "failed"]
    seconds: float = 0.0
    error: str = ""


@dataclass
class Worker:
    """A worker's place. It holds the model of its last job: jobs come sorted by model."""

    store: Store
    held: AnyModel | None = None
    _model: Model | None = field(default=None, repr=False)

    def model(self, wanted: AnyModel) -> Model:
        if self._model is None or wanted != self.held:
            self.held, self._model = None, None  # let go of the old one first: two may not fit
            self._model = wanted.open(self.store.artifacts)
            self.held = wanted
        return self._model

    def compute(self, job: Job, bar: Progress | None = None) -> Record:
        """Run a job; its artefact is complete before its record is."""
        began = time.perf_counter()
        place: Any = self.store.artifacts.making(job.key) if job.artifact else nullcontext()
        with place as folder:
            found = job.kind.run(JobContext(job, self, bar or Progress("", None, show=False), folder))
        made = found if isinstance(found, JobResult) else JobResult(found)
        took = {"took": time.perf_counter() - began, "created": time.time()}
        return Record(job.key, job.spec, made.rows, {**versions(), **took, **made.provenance})

    def execute(self, job: Job) -> Outcome:
        """Run a job and store its record; an error becomes a note with its traceback. Only the store may raise."""
        began = time.perf_counter()
        try:
            record = self.compute(job)
        except StoreError:
            raise
        except Exception as error:
            return self._failed(job, error, time.perf_counter() - began)
        self._compare(job, record)
        self.store.put(record)
        self.store.drop_note("failed", job.key)
        return Outcome("done", time.perf_counter() - began)

    def _compare(self, job: Job, record: Record) -> None:
        """An artefact that was deleted and built again should be what it was: others were made of it."""
        before = self.store.get(job.key)
        if before is not None and canonical(before.rows) != canonical(record.rows):
            made = ", ".join(f"{k} {before.provenance.get(k)}" for k in ("assay", "torch", "transformers"))
            warnings.warn(
                f"{job.name} was run again and came out differently than before (with {made}); "
                "records made of the first result stay",
                stacklevel=2,
            )

    def _failed(self, job: Job, error: Exception, seconds: float) -> Outcome:
        words = sentence(error)
        trace = "".join(traceback.format_exception(error))
        fail(self.store, job, words, trace)
        self.held, self._model = None, None  # a model that was being changed when the error came is not trusted
        return Outcome("failed", seconds, words)


def fail(store: Store, job: Job, words: str, trace: str = "") -> None:
    """Write down why there is no record."""
    store.put_note("failed", job.key, {"key": job.key, "at": dict(job.at), "error": words, "traceback": trace})


def sentence(error: Exception) -> str:
    """An error of ours as it is; of others with its type, in one line."""
    first = (str(error).strip() or "no message").splitlines()[0]
    return first if isinstance(error, AssayError) else f"{type(error).__name__}: {first}"


def versions() -> dict[str, str]:
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
    """So many threads for torch, and what it was afterwards; None changes nothing."""
    before = torch.get_num_threads()
    torch.set_num_threads(count or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)
