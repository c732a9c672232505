"""Train a model in one job; its artefact is a folder that `load_model` reads."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from assay.core.errors import SpecError, nearest
from assay.datasets.dataset import Dataset
from assay.evaluation import PERFORMANCE
from assay.experiments.job import Job, JobContext, JobResult, Row
from assay.experiments.plan_splits import plan_splits
from assay.experiments.references import DataReference, base_identity
from assay.training.classifier import TASKS, train_classifier
from assay.training.loop import Loss
from assay.training.recipe import Recipe
from assay.training.run_folder import CARD
from assay.training.scratch import is_scratch, parse_size

SELECTIONS = {"classification": "accuracy", "regression": "pearson"}  # default score that selects the checkpoint
KEPT_FILES = ("*.json", "*.txt", "*.model", "head.safetensors")  # all but the weights: enough to write a report


@dataclass(frozen=True)
class TrainingTask:
    """A model trained on a data set; see `assay train` for what the fields mean.

    data_seed draws subsets and held-out examples; it is not `seed`, so that seeds differ only in the training.
    """

    train: str  # base model: a folder, a hub id, or a size such as "bert(layers=2, width=128)"
    on: DataReference
    recipe: str = "recipe"
    seed: int = 0
    split: str | None = None
    validation: str | None = None
    limit: int | None = None
    validation_limit: int | None = None
    max_length: int | None = None
    task: str | None = None
    device: str | None = None
    data_seed: int = 0

    revision: ClassVar[int] = 1

    def __post_init__(self) -> None:
        Recipe.from_spec(self.recipe)
        if is_scratch(self.train):
            parse_size(self.train)
        if self.task is not None and self.task not in TASKS:
            raise SpecError(f"unknown task {self.task!r}; {nearest(self.task, TASKS)}")

    def splits(self) -> tuple[Dataset, Dataset]:
        """The training split, and the validation split, which selects the checkpoint."""
        return plan_splits(self.on, self.split, self.validation, self.limit, self.validation_limit, self.data_seed)

    def full_recipe(self, task: str) -> Recipe:
        return replace(Recipe.from_spec(self.recipe), seed=self.seed).selecting_by(SELECTIONS[task])

    def job(self, tags: dict[str, Any], *, keep: bool = False) -> Job:
        """The job of a training; it needs no model."""
        train, validation = self.splits()
        task = self.task or train.task
        spec = {
            "kind": "train",
            "revision": self.revision,
            "base": base_identity(self.train),
            "train": train.fingerprint,
            "validation": validation.fingerprint,
            "recipe": self.full_recipe(task).to_json(),
            "max_length": self.max_length,
            "task": task,
        }
        return Job(self, spec, tags, artifact=True, kept_files=KEPT_FILES, keep=keep)

    def run(self, context: JobContext) -> JobResult:
        train, validation = self.splits()
        self.fit(context.folder, train, validation)
        return training_result(context.folder, train, validation)

    def fit(self, folder: Path, train: Dataset, validation: Dataset, loss: Loss | None = None) -> None:
        """Train into a folder, unless a run killed afterwards left a complete model. loss: replaces the default."""
        task = self.task or train.task
        if (folder / CARD).exists():
            return
        train_classifier(
            self.train,
            train,
            validation,
            self.full_recipe(task),
            output=folder,
            metrics=performance_metrics(task),
            loss=loss,
            max_length=self.max_length,
            task=self.task,
            device=self.device,
            progress=False,
        )

    def tidy(self, rows: Any) -> Iterator[Row]:
        for name, value in rows["validation"].items():
            yield {"metric": name, "value": value}


def performance_metrics(task: str) -> dict[str, Any]:
    """All performance metrics of a task."""
    metrics = {name: PERFORMANCE.make(name) for name in PERFORMANCE.names}
    return {name: metric for name, metric in metrics.items() if metric.facts.task == task}


def training_result(folder: Path, train: Dataset, validation: Dataset) -> JobResult:
    """The rows of a training, from its card; times and devices are provenance."""
    card = json.loads((folder / CARD).read_text(encoding="utf-8"))
    history = card["history"]
    checks = [{k: v for k, v in check.items() if k != "seconds"} for check in history["checks"]]
    best = {} if history["best"] is None else checks[history["best"]]["scores"]
    counts = Counter(example.label for example in validation)
    rows = {
        "validation": best,
        "examples": {"train": len(train), "validation": len(validation)},
        "chance": 1 / len(card["labels"]),
        "majority": max(counts.values()) / len(validation),
        "steps": history["steps"],
        "stopped": history["stopped"],
        "best": history["best"],
        "checks": checks,
        "model": {name: card[name] for name in ("base", "task", "labels", "max_length", "fingerprint")},
    }
    return JobResult(rows, {"seconds": history["seconds"], "threads": card["threads"], "device": card["device"]})


def training_seconds(folder: Path) -> float:
    """Total seconds of a training, including interrupted runs."""
    return float(json.loads((folder / CARD).read_text(encoding="utf-8"))["history"]["seconds"])
