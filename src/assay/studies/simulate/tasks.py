"""The jobs of simulability: ask the teacher, explain the students' texts, train and test a student."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from assay.core.errors import UnsupportedError
from assay.core.progress import Progress
from assay.core.types import Example
from assay.datasets.dataset import Dataset
from assay.evaluation.simulability.scores import simulability
from assay.experiments.job import JobContext, JobResult, Row
from assay.experiments.references import AnyData
from assay.experiments.training_task import SELECTIONS, performance_metrics
from assay.explainers.methods import named_methods
from assay.explainers.protocols import Learned
from assay.explainers.session import CHUNK, Session
from assay.masking.special_tokens import token_names
from assay.models.encoding import Encoding
from assay.models.model import Model
from assay.studies.simulate.explained import (
    Explained,
    Lesson,
    check_alike,
    explained,
    mean_entropy,
    read,
    uniform,
    write,
)
from assay.studies.simulate.student import StudentModel
from assay.training.checkpoint import remove_checkpoint
from assay.training.classifier import Trainable, fine_tune, predict
from assay.training.encoded import encode_dataset
from assay.training.four_splits import FourSplits, four_splits
from assay.training.recipe import Recipe
from assay.training.teaching import Shares, Student, TeachingLoss

Subsets = Literal["resampled", "nested"]
SHOWN = Lesson(None)  # scores that are shares already
ASKED = ("students", "validation", "test")  # splits that the teacher answers


@dataclass(frozen=True)
class Classroom:
    """The texts of all students: four splits of a data set, and which of its texts each student gets."""

    data: AnyData
    sizes: tuple[int, ...]
    seeds: tuple[int, ...]
    subsets: Subsets
    data_seed: int

    def splits(self) -> FourSplits:
        return four_splits(self.data.load(), self.data_seed)

    def lesson(self, splits: FourSplits, size: int, seed: int) -> Dataset:
        """The texts of one student; "nested" gives all students of one size the same, as in the paper."""
        return splits.drawn(size, seed if self.subsets == "resampled" else 0)

    def parts(self) -> dict[str, Dataset]:
        """What the teacher is asked: all texts of any student, early stopping, test."""
        splits = self.splits()
        drawn = [self.lesson(splits, max(self.sizes), seed) for seed in self.seeds]
        wanted = {example.content for texts in drawn for example in texts}
        students = tuple(e for e in splits.students if e.content in wanted)
        return {
            "students": replace(splits.students, examples=students),
            "validation": splits.validation,
            "test": splits.test,
        }

    @property
    def fingerprint(self) -> dict[str, str]:
        return {name: part.fingerprint for name, part in self.parts().items()}


@dataclass(frozen=True)
class AskTask:
    """What the teacher says about every text: a class, or a score."""

    room: Classroom
    batch_tokens: int | None = None
    revision: ClassVar[int] = 1

    def run(self, context: JobContext) -> JobResult:
        model = context.model()
        if model.task == "multi_label":
            raise UnsupportedError(f"{model.name} gives several labels to a text; simulability needs one, or a score")
        answers = {name: self.answers(model, part) for name, part in self.room.parts().items()}
        rows = {"answers": answers, "labels": list(model.labels), "task": model.task}
        check_alike(rows)
        return JobResult(rows)

    def answers(self, model: Model, data: Dataset) -> list[Any]:
        """The place of the predicted class for each text, or the predicted score."""
        said = model.predict(list(data), batch_tokens=self.batch_tokens)
        return [p.label if model.task == "regression" else model.labels.index(p.label) for p in said]

    def tidy(self, rows: Any) -> Iterator[Row]:
        yield from ({"metric": f"texts_{name}", "value": len(part)} for name, part in rows["answers"].items())


@dataclass(frozen=True)
class ExplainTask:
    """A method's explanations of all texts of any student, for the teacher's own answer."""

    room: Classroom
    method: str
    seed: int = 0
    batch_tokens: int | None = None
    revision: ClassVar[int] = 1

    def run(self, context: JobContext) -> JobResult:
        began, model = time.perf_counter(), context.model()
        texts = self.room.parts()["students"]
        rows = self.explained(model, texts)
        write(context.folder, rows)
        seconds = {"seconds": time.perf_counter() - began}
        return JobResult({"texts": len(rows), "units": float(np.mean([len(row.scores) for row in rows]))}, seconds)

    def explained(self, model: Model, texts: Dataset) -> list[Explained]:
        return explain_texts(model, named_methods([self.method]), texts, self.seed, self.batch_tokens)

    def tidy(self, rows: Any) -> Iterator[Row]:
        yield {"metric": "units", "value": rows["units"]}


def explain_texts(
    model: Model, methods: dict[str, Any], texts: Dataset, seed: int = 0, batch_tokens: int | None = None
) -> list[Explained]:
    """The explanations of one method, for the teacher's own answers."""
    special = _special_tokens(next(iter(methods.values())), model)
    session = Session.create(model, methods, seed=seed, batch_tokens=batch_tokens, special_tokens=special)
    numbered, out = list(enumerate(texts)), []
    for start in range(0, len(numbered), CHUNK):
        chunk = numbered[start : start + CHUNK]
        inputs = session.open(chunk, [None] * len(chunk))
        (found,) = session.explain(inputs, Progress("", None, show=False)).values()
        out += [explained(e, a.scores) for e, a in zip(inputs.encodings, found, strict=True)]
    return out


def _special_tokens(method: Any, model: Model) -> str:
    """Special tokens are explained where the paper's methods do; perturbing and learned methods leave them alone."""
    if not hasattr(method, "attribute") or (isinstance(method, Learned) and not getattr(method, "special", False)):
        return "protected"
    try:
        token_names(model, "ranked")
    except UnsupportedError:
        return "protected"
    return "ranked"


@dataclass(frozen=True)
class StudentTask:
    """Train a student on the teacher's answers, with or without explanations, and test it without."""

    room: Classroom
    student: StudentModel
    recipe: str
    size: int
    seed: int
    asked: str  # key of the AskTask
    explained: str | None = None  # key of the ExplainTask; None: no explanation
    lesson: Lesson = SHOWN
    beta: float = 0.0
    tried: tuple[tuple[float, str], ...] = ()  # values of beta and the keys of students that tried them
    last: bool = False  # the student explains itself by its last layer
    alone: bool = False  # the explanations are of this student's texts only
    revision: ClassVar[int] = 1
    activity: ClassVar[str] = "train"

    def run(self, context: JobContext) -> JobResult:
        began = time.perf_counter()
        asked = rows_of(context, self.asked)
        beta = self._beta(context)
        parts = self.room.parts()
        texts = self.room.lesson(self.room.splits(), self.size, self.seed)
        answers = dict(zip((e.content for e in parts["students"]), asked["answers"]["students"], strict=True))
        train = labelled(texts, [answers[e.content] for e in texts], asked)
        validation, test = (labelled(parts[name], asked["answers"][name], asked) for name in ASKED[1:])
        model = self.student.open(context, self.seed)
        wrap, loss, told = self._teaching(context, model, texts, parts["students"], beta)
        recipe = self._recipe(asked["task"])
        metrics = performance_metrics(asked["task"])
        history = fine_tune(
            model,
            train,
            validation,
            recipe,
            metrics=metrics,
            loss=loss,
            wrap=wrap,
            folder=context.folder,
            progress=False,
        )
        rows = {
            **examined(model, test),
            "validation": None if history.best_check is None else dict(history.best_check.scores),
            "beta": beta,
            "steps": history.steps,
            "stopped": history.stopped,
            "best": history.best,
            "entropy": told,
        }
        remove_checkpoint(context.folder)
        return JobResult(rows, {"seconds": time.perf_counter() - began})

    def _recipe(self, task: str) -> Recipe:
        return replace(Recipe.from_spec(self.recipe), seed=self.seed).selecting_by(SELECTIONS[task])

    def _beta(self, context: JobContext) -> float:
        """The given weight of the explanation, or the one whose student did best on the early-stopping texts."""
        if not self.tried:
            return self.beta
        name = SELECTIONS[rows_of(context, self.asked)["task"]]
        found = {beta: rows_of(context, key)["validation"][name] for beta, key in self.tried}
        return max(found, key=lambda beta: (found[beta], -beta))

    def _teaching(
        self, context: JobContext, model: Model, texts: Dataset, everyone: Dataset, beta: float
    ) -> tuple[Any, Any, float | None]:
        """How to wrap the student, its loss, and the mean entropy of what it is told."""
        if beta == 0 or (self.explained is None and self.lesson.control != "uniform"):
            return Trainable, None, None
        taught, told = self._lessons(context, [model.encode(e) for e in texts], everyone)
        wrap = partial(Student, normaliser=self.student.normaliser, last=self.last)
        return wrap, TeachingLoss(taught, beta), told

    def _lessons(
        self, context: JobContext, encodings: list[Encoding], everyone: Dataset
    ) -> tuple[dict[str, Shares], float]:
        """What the student is told about each text, and the mean entropy of that."""
        if self.explained is None:
            return uniform(encodings)
        texts = [encoding.example for encoding in encodings]
        whose = texts if self.alone else everyone
        known = dict(zip((e.content for e in whose), read(context.artifact(self.explained)), strict=True))
        rows = [known[e.content] for e in texts]
        taught = self.lesson.taught(rows, encodings)
        return taught, mean_entropy(taught.values())

    def tidy(self, rows: Any) -> Iterator[Row]:
        yield {"metric": "simulability", "value": rows["score"]}
        yield {"metric": "steps", "value": rows["steps"]}


def examined(model: Model, test: Dataset) -> dict[str, Any]:
    """What a student says about the test texts, and how well that agrees with the teacher."""
    encoded = encode_dataset(model, test, progress=False)
    outputs = predict(Trainable(model).eval(), encoded)
    said = outputs[:, 0] if model.task == "regression" else outputs.argmax(-1)
    return {"outputs": said.tolist(), "score": float(simulability(said[None], encoded.gold)[0])}


def rows_of(context: JobContext, key: str) -> Any:
    record = context.worker.store.get(key)
    if record is None:
        raise RuntimeError(f"{context.job.name} needs the record {key}")
    return record.rows


def labelled(data: Dataset, answers: Sequence[Any], asked: Any) -> Dataset:
    """The data with the teacher's answers as labels; what the texts' own labels say is not used."""
    examples: tuple[Example, ...] = tuple(replace(e, label=a) for e, a in zip(data, answers, strict=True))
    regression = asked["task"] == "regression"
    labels = None if regression else tuple(asked["labels"])
    return replace(data, examples=examples, labels=labels, task="regression" if regression else "classification")


def outputs_of(rows: Any, task: str) -> NDArray[Any]:
    """(N,) what a student said about the test texts."""
    return np.asarray(rows["outputs"], np.float64 if task == "regression" else np.int64)
