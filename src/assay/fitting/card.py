"""The card of a fitted explainer: what every learned method says about its model, its data and its validation."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any, Literal, Protocol

from assay.datasets.dataset import Dataset
from assay.explainers.learned.parts.saved import FORMAT, KIND
from assay.explainers.learned.parts.seen import text_marks
from assay.models.model import Model
from assay.training.history import Check, History


@dataclass(frozen=True)
class Chance:
    """The criterion of a control, such as a random order of the units, as a mean over texts and draws."""

    random: float
    error: float | None = None  # standard error of the difference between the explainer and the control
    texts: int | None = None


class Chosen(Protocol):
    """What chose the checkpoint."""

    @property
    def name(self) -> str: ...

    @property
    def better(self) -> Literal["higher", "lower"]: ...


def explainer_card(
    method: str, model: Model, criterion: Chosen, history: History, random: Chance, data: Mapping[str, Any]
) -> dict[str, Any]:
    """What every card holds; a method adds `learnt` (a phrase), its `settings`, and what it needs to explain.

    random: how a random order, or what the card calls `control`, does on the texts that chose the checkpoint.
    """
    name, best = criterion.name, history.best_check
    return {
        "kind": KIND,
        "format": FORMAT,
        "method": method,
        "metric": name,
        "better": criterion.better,
        "validation": {"best": None if best is None else best.scores[name], **asdict(random)},
        "curve": [_point(check, name) for check in history.checks],
        "model": model.title,
        "identity": model.identity,
        "labels": list(model.labels),
        "task": model.task,
        **data,
        "versions": {package: version(package) for package in ("assay", "torch", "transformers", "numpy")},
        "python": platform.python_version(),
    }


def _point(check: Check, name: str) -> dict[str, float]:
    return {"step": check.step, "epoch": check.epoch, "loss": check.loss, "value": check.scores[name]}


def data_card(train: Dataset, validation: Dataset, *more: Dataset) -> dict[str, Any]:
    """The data in the card: names, sizes and fingerprints, and marks of all inputs that were seen."""
    data = {
        name: {"name": d.name, "split": d.split, "examples": len(d), "fingerprint": d.fingerprint}
        for name, d in (("train", train), ("validation", validation))
    }
    return {"data": data, "texts": sorted(text_marks(e for d in (train, validation, *more) for e in d))}
