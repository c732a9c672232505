"""Jobs without models, so that the machinery of runs can be tested in milliseconds; workers import them from here."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from assay.core.errors import InputError
from assay.experiments.job import Job, JobContext, JobResult, Row
from assay.experiments.plan import Plan
from assay.experiments.references import DataReference, TrainedModel
from assay.experiments.requirement import Requirement


@dataclass(frozen=True)
class Toy:
    """Rows are the number and its needs' artefacts; the switches are files, so that a second try can go otherwise."""

    number: int
    seconds: float = 0.0
    fails_while: str | None = None  # raises while this file exists
    dies_once: str | None = None  # SIGKILLs its own process unless this file exists, which it makes first
    dies: bool = False
    accuracy: float = 1.0

    revision: ClassVar[int] = 1

    def run(self, context: JobContext) -> JobResult:
        time.sleep(self.seconds)
        if self.fails_while and Path(self.fails_while).exists():
            raise InputError(f"number {self.number} is bad")
        if self.dies or (self.dies_once and not Path(self.dies_once).exists()):
            Path(self.dies_once or os.devnull).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        read = [(context.artifact(need) / "it.txt").read_text() for need in context.job.needs]
        if context.output is not None:
            (context.output / "it.txt").write_text(f"made by {self.number}")
            (context.output / "small.json").write_text("{}")
        rows = {"number": self.number, "read": read, "validation": {"accuracy": self.accuracy}, "chance": 0.5}
        return JobResult(rows, {"pid": os.getpid()})

    def tidy(self, rows: Any) -> Iterator[Row]:
        yield {"value": rows["number"]}


def job(number: int, needs: Sequence[Job] = (), *, artifact: bool = False, rule: str | None = None, **more: Any) -> Job:
    """A toy job. With a rule its first need stands for a trained model."""
    toy = Toy(number, **more)
    model = None
    if rule is not None:
        model = TrainedModel("model", needs[0].key, DataReference("d", "builtin"), (), Requirement.parse(rule))
    tags = {"study": "toy", "model": f"m{number}", "data": None}
    keys = tuple(need.key for need in needs)
    return Job(toy, {"n": number}, tags, model, needs=keys, artifact=artifact, kept_files=("*.json",))


def plan(*jobs: Job) -> Plan:
    return Plan("toys", (), (), {j.key: j for j in jobs})
