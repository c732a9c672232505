"""SMaT inside the study: heads fitted on a student's own texts, then a fresh student that the frozen heads teach.

The student that is taught while the heads are found has had other explanations at every step; the fresh one learns as
every other student does, so it is the one to compare. The heads of both are chosen with the teacher's answers to
further texts, which no other method uses.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from assay.core.spec import Spec, build, parse
from assay.experiments.job import JobContext, JobResult, Row
from assay.explainers.learned.scaffold import Scaffold
from assay.fitting.methods.scaffold import ScaffoldFit
from assay.fitting.run import FitRun
from assay.fitting.scaffold import VANISHED, fit_heads
from assay.studies.simulate.explained import write
from assay.studies.simulate.tasks import Classroom, examined, explain_texts, labelled, rows_of
from assay.training.checkpoint import remove_checkpoint
from assay.training.recipe import Recipe

NAME = "scaffold"
OWN = ", own student"  # after the name of a fit: the student that the heads were found with


def is_fit(method: str) -> bool:
    """Whether a method is to be fitted by the study: a scaffold without a folder."""
    spec = parse(method)
    return spec.name == NAME and not spec.args and "explainer" not in dict(spec.params)


def fit_settings(method: str, student: str, recipe: Recipe, normaliser: str) -> ScaffoldFit:
    """The settings of a fit: the students' recipe, with what the spec of the method says."""
    given: ScaffoldFit = build(parse(method), ScaffoldFit)
    own = {name for name, _ in parse(method).params}
    shared: dict[str, Any] = {
        "epochs": recipe.epochs,
        "batch_size": recipe.batch_size,
        "learning_rate": recipe.learning_rate,
        "clip": recipe.clip,
        "weight_decay": recipe.weight_decay,
        "patience": recipe.patience,
        "normaliser": normaliser,
    }
    return replace(given, student=student, **{name: value for name, value in shared.items() if name not in own})


@dataclass(frozen=True)
class ScaffoldTask:
    """Fit heads on the texts of one student; test the student that they were found with, explain its texts."""

    room: Classroom
    settings: ScaffoldFit
    size: int
    seed: int
    asked: str  # key of the AskTask
    revision: ClassVar[int] = 1
    activity: ClassVar[str] = "train"

    def run(self, context: JobContext) -> JobResult:
        began, model, asked = time.perf_counter(), context.model(), rows_of(context, self.asked)
        splits = self.room.splits()
        texts = self.room.lesson(splits, self.size, self.seed)
        run = FitRun(folder=context.folder, progress=False)
        settings = replace(self.settings, seed=self.seed)
        heads, student = fit_heads(model, texts, splits.outer, splits.validation, settings, run)
        heads.save(context.folder)
        explained = explain_texts(model, {NAME: Scaffold.of(heads)}, texts)
        write(context.folder, explained)
        test = labelled(splits.test, asked["answers"]["test"], asked)
        rows = {
            **examined(student.model, test),
            "validation": heads.card["validation"],
            "beta": settings.beta,
            "entropy": None,
            "steps": heads.card["curve"][-1]["step"],
            "heads": heads.grid.tolist(),
            "skipped": heads.card["skipped"],
        }
        remove_checkpoint(context.folder)
        return JobResult(rows, {"seconds": time.perf_counter() - began})

    def tidy(self, rows: Any) -> Iterator[Row]:
        yield {"metric": "simulability", "value": rows["score"]}
        yield {"metric": "skipped", "value": rows["skipped"]}
        weights = [weight for layer in rows["heads"] for weight in layer]
        yield {"metric": "active_heads", "value": sum(abs(weight) > VANISHED for weight in weights)}

    @property
    def spec(self) -> dict[str, Any]:
        """What changes its rows, besides teacher and texts; the student's folder is identified by its content."""
        shown = Spec.of(replace(self.settings, student=None, seed=0))
        return {"kind": "simulate_scaffold", "revision": self.revision, "settings": str(shown)}
