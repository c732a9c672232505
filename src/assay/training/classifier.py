"""Fine-tune a model of any family to classify or to score texts, pairs or images, and save it for load_model.

Examples pass through Model.encode and Model.batch as they do when they are explained, so that training and explaining
read the same positions, separators and read-out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, mse_loss

from assay.core.errors import SpecError, nearest
from assay.core.spec import Spec
from assay.datasets.dataset import Dataset
from assay.models.encode import TextEncoder
from assay.models.encoding import Batch
from assay.models.model import Model
from assay.training import run_folder as out
from assay.training.encoded import Encode, Encoded, Labelled, encoded
from assay.training.history import History
from assay.training.loop import Loss, Watch, fit
from assay.training.pretrained import fresh_model
from assay.training.recipe import LOSS, Better, Recipe
from assay.training.scratch import is_scratch, scratch_model

TASKS = ("classification", "regression")
LONGEST = 512  # positions, unless the caller says otherwise: what a decoder could read is too slow to train on
VALIDATION_BATCH = 64


class Metric(Protocol):
    """A score of a model's outputs (N,C) for gold (N,); those of evaluation/performance are such."""

    @property
    def better(self) -> Better: ...

    def score(self, outputs: NDArray[Any], gold: NDArray[Any]) -> float: ...


@dataclass(frozen=True)
class TrainingResult:
    """A model with the weights of its best validation, and how it got there."""

    model: Model
    history: History


class Trainable(nn.Module):
    """A Model as one module: transformer and head as explanations run them, but with dropout and gradients."""

    def __init__(self, model: Model) -> None:
        super().__init__()
        self.model = model
        self.hf = model.hf
        self.head = model.head

    def forward(self, batch: Batch) -> Tensor:  # (B,C)
        return self.model.outputs(batch).float()


def train_classifier(
    base: str | Path | Spec,
    train: Dataset,
    validation: Dataset,
    recipe: Recipe | None = None,
    *,
    output: str | Path | None = None,
    overwrite: bool = False,
    max_length: int | None = None,
    task: str | None = None,
    device: str | torch.device | None = None,
    **more: Any,
) -> TrainingResult:
    """Train `base` on `train`, keep what is best on `validation`, and save it.

    base: a folder or hub id of a pretrained model, whose head is drawn anew unless it has these very labels, or a size
    such as "bert(layers=2, width=128)" to start from random weights with a tokenizer trained on the data. output: the
    folder to save in; an interrupted training goes on from there. more: metrics, encode, loss, watch, progress and
    save_seconds of `fine_tune`.
    """
    recipe = _directed(recipe or Recipe(), more.get("metrics") or {})
    folder = None if output is None else out.prepare(Path(output), base, overwrite=overwrite)
    model = start(base, train, validation, recipe.seed, max_length=max_length, task=task, device=device)
    if folder is not None and overwrite:
        out.clear(folder)  # not before the base is read: its name may be mistyped
    history = fine_tune(model, train, validation, recipe, folder=folder, **more)
    if folder is None:
        return TrainingResult(model, history)
    model = replace(model, name=folder.name)
    out.finish(folder, model, out.card(model, base, recipe, history, train, validation))
    return TrainingResult(model, history)


def fine_tune(
    model: Model,
    train: Dataset,
    validation: Dataset,
    recipe: Recipe,
    *,
    metrics: Mapping[str, Metric] | None = None,
    encode: Encode = Model.encode,
    loss: Loss | None = None,
    folder: Path | None = None,
    watch: Watch | None = None,
    progress: bool | None = None,
    save_seconds: float = 60.0,
) -> History:
    """Train a model in place, all parameters that want a gradient; see `start` for where it comes from.

    metrics: by name; the recipe's selection is one of them or "loss". encode: what a masked data set changes. loss: of
    a batch, if not `loss_of`. folder: for the checkpoint. The random numbers depend on data, starting weights and seed
    alone.
    """
    given, module = metrics or {}, Trainable(model)
    key = f"{train.fingerprint} {replace(model).fingerprint}"  # of a copy, which caches none
    seen, held = (encoded(model, data, encode, progress=progress) for data in (train, validation))
    history = fit(
        module,
        seen.data,
        loss or loss_of,
        lambda module: scores(module, held, given),
        _directed(recipe, given),
        key=key,
        about=f"{seen.fingerprint} {held.fingerprint}",
        folder=folder,
        watch=watch,
        progress=progress,
        save_seconds=save_seconds,
    )
    module.requires_grad_(False).eval()
    model.weights_changed()
    return history


def start(
    base: str | Path | Spec,
    train: Dataset,
    validation: Dataset,
    seed: int = 0,
    *,
    max_length: int | None = None,
    task: str | None = None,
    device: str | torch.device | None = None,
) -> Model:
    """The model before its first step."""
    task = task or train.task
    if task not in TASKS:
        raise SpecError(f"there is no task {task!r} to train for; {nearest(task, TASKS)}")
    labels = _labels(train, validation, task)
    if is_scratch(base):
        spec = base if isinstance(base, Spec) else str(base)
        model = scratch_model(spec, train, labels, task, seed=seed, device=device)
    else:
        model = fresh_model(str(Path(str(base)).expanduser()), labels, task, seed=seed, device=device)
    return _limited(model, max_length)


def loss_of(module: Any, item: Labelled) -> Tensor:
    """Cross entropy, or the squared error of a score."""
    logits = module(item.batch)
    if module.model.task == "regression":
        return mse_loss(logits.squeeze(-1), item.gold)
    return cross_entropy(logits, item.gold)


def predict(module: Trainable, data: Encoded) -> NDArray[np.float32]:
    """(N,C) outputs in the order of the data, computed in batches of about one length."""
    lengths = data.data.lengths
    order = np.arange(len(data.gold)) if lengths is None else np.argsort(lengths, kind="stable")
    parts = np.split(order, range(VALIDATION_BATCH, len(order), VALIDATION_BATCH))
    with torch.inference_mode():
        outputs = [module(data.batch(part.tolist()).batch).cpu().numpy() for part in parts]
    found: NDArray[np.float32] = np.concatenate(outputs)[np.argsort(order)]
    return found


def scores(module: Trainable, data: Encoded, metrics: Mapping[str, Metric]) -> dict[str, float]:
    """The loss and every metric."""
    outputs = predict(module, data)
    logits, gold = torch.from_numpy(outputs), torch.from_numpy(data.gold)
    regression = module.model.task == "regression"
    loss = mse_loss(logits.squeeze(-1), gold) if regression else cross_entropy(logits, gold)
    return {LOSS: float(loss), **{name: metric.score(outputs, data.gold) for name, metric in metrics.items()}}


def _directed(recipe: Recipe, metrics: Mapping[str, Metric]) -> Recipe:
    """The recipe with the direction of its selection."""
    if recipe.selection == LOSS:
        return recipe
    if recipe.selection not in metrics:
        known = nearest(recipe.selection, [LOSS, *metrics])
        raise SpecError(f"selection={recipe.selection!r} is no metric that was given; {known}")
    return replace(recipe, better=metrics[recipe.selection].better)


def _labels(train: Dataset, validation: Dataset, task: str) -> tuple[str, ...]:
    """The names of all classes, those of the training data first; one name for a score."""
    if task == "regression":
        return ("score",)
    if train.task == "regression":
        raise SpecError(f"{train.name or 'the data'} holds scores, not classes; leave the task out")
    names = tuple(dict.fromkeys([*(train.labels or ()), *(validation.labels or ())]))
    if len(names) < 2:
        raise SpecError(f"{train.name or 'the data'} has {len(names)} labels; a classifier needs at least two")
    return names


def _limited(model: Model, max_length: int | None) -> Model:
    """With texts cut at `max_length` positions, now and whenever the saved model reads one."""
    model = model.limited(LONGEST if max_length is None else max_length)
    if isinstance(model.encoder, TextEncoder):
        model.tokenizer.model_max_length = model.encoder.limit
    return model
