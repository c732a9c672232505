"""Fine-tune a model of any family on texts, pairs or images, for classification or regression, and save it.

Examples pass through Model.encode and Model.batch, as in explanations, so that both use the same positions, separators
and read-out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, mse_loss

from assay.core.errors import SpecError, nearest
from assay.core.metric_facts import MetricFacts
from assay.core.spec import Spec
from assay.datasets.dataset import Dataset
from assay.models.encode import TextEncoder
from assay.models.encoding import Batch
from assay.models.identity import config_hash
from assay.models.load import save_model
from assay.models.model import Model, wide
from assay.training.encoded import Encode, EncodedDataset, LabelledBatch, encode_dataset
from assay.training.history import History
from assay.training.loop import Loss, OnCheck, fit
from assay.training.lora import add_lora, check_base
from assay.training.pretrained import pretrained_model
from assay.training.recipe import LOSS, Recipe
from assay.training.run_folder import check_folder, clear_folder, save_run, training_card, training_in
from assay.training.scratch import is_scratch, scratch_model

TASKS = ("classification", "regression")
MAX_LENGTH = 512  # default in positions; the full context of a decoder is too slow for training
VALIDATION_BATCH = 64


class PerformanceMetric(Protocol):
    """A score of outputs (N,C) for gold labels (N,), e.g. those of evaluation/performance."""

    @property
    def facts(self) -> MetricFacts: ...

    def score(self, outputs: NDArray[Any], gold: NDArray[Any]) -> float: ...


@dataclass(frozen=True)
class TrainingResult:
    """A model with the weights of its best validation, and the history of the run."""

    model: Model
    history: History


class Trainable(nn.Module):
    """A Model as one module: transformer and head as used in explanations, with dropout and gradients."""

    def __init__(self, model: Model) -> None:
        super().__init__()
        self.model = model
        self.hf = model.hf
        self.head = model.head

    def forward(self, batch: Batch) -> Tensor:  # (B,C)
        return wide(self.model.outputs(batch))


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
    """Train `base` on `train`, select the best checkpoint on `validation`, and save it.

    base: a folder or hub id of a pretrained model, whose head is re-initialised unless its labels are the same, or a
    size such as "bert(layers=2, width=128)" to train from scratch with a tokenizer trained on the data. output: the
    folder to save to; an interrupted run resumes from it. more: metrics, encode, loss, on_check, progress and
    save_seconds of `fine_tune`.
    """
    recipe = _with_direction(recipe or Recipe(), more.get("metrics") or {})
    folder = None if output is None else check_folder(Path(output), base, overwrite=overwrite)
    check_base(base, recipe)
    with training_in(folder):
        model = initial_model(
            base, train, validation, recipe.seed, max_length=max_length, task=task, device=device, head=recipe.head
        )
        adapter = add_lora(model, str(base), recipe)
        if folder is not None and overwrite:
            clear_folder(folder)  # only now, as the base might not exist
        history = fine_tune(model, train, validation, recipe, folder=folder, **more)
        save = save_model if adapter is None else adapter.finish(model)
        if folder is not None:
            model = replace(model, name=folder.name)
            save_run(folder, model, training_card(folder, model, base, recipe, history, train, validation), save)
    return TrainingResult(model, history)


def fine_tune(
    model: Model,
    train: Dataset,
    validation: Dataset,
    recipe: Recipe,
    *,
    metrics: Mapping[str, PerformanceMetric] | None = None,
    encode: Encode = Model.encode,
    loss: Loss | None = None,
    wrap: Callable[[Model], Trainable] = Trainable,
    folder: Path | None = None,
    on_check: OnCheck | None = None,
    progress: bool | None = None,
    save_seconds: float = 60.0,
) -> History:
    """Train a model (see `initial_model`) in place: all parameters with requires_grad.

    metrics: by name; the recipe's selection is one of them or "loss". encode: replaces Model.encode. loss: of a batch;
    default `task_loss`. wrap: makes the module, which may have parameters of its own. folder: for checkpoints. The
    result depends only on data, initial weights, recipe and seed.
    """
    metrics, module = metrics or {}, wrap(model)
    key = f"{train.fingerprint} {replace(model).fingerprint}"
    training, held_out = (encode_dataset(model, data, encode, progress=progress) for data in (train, validation))
    history = fit(
        module,
        training.data,
        loss or task_loss,
        lambda module: validation_scores(module, held_out, metrics),
        _with_direction(recipe, metrics),
        key=key,
        resume_key=f"{training.fingerprint} {held_out.fingerprint} {config_hash(model.hf.config)}",
        folder=folder,
        on_check=on_check,
        progress=progress,
        save_seconds=save_seconds,
    )
    module.requires_grad_(False).eval()
    model.weights_changed()
    return history


def initial_model(
    base: str | Path | Spec,
    train: Dataset,
    validation: Dataset,
    seed: int = 0,
    *,
    max_length: int | None = None,
    task: str | None = None,
    device: str | torch.device | None = None,
    head: str | None = None,
) -> Model:
    """The model before training: pretrained or from scratch, with a head for the labels of the data.

    head: of models/heads; None is that of transformers.
    """
    task = task or train.task
    if task not in TASKS:
        raise SpecError(f"unknown task {task!r}; {nearest(task, TASKS)}")
    labels = _labels(train, validation, task)
    if is_scratch(base):
        spec = base if isinstance(base, Spec) else str(base)
        model = scratch_model(spec, train, labels, task, seed=seed, device=device, head=head)
    else:
        path = str(Path(str(base)).expanduser())
        model = pretrained_model(path, labels, task, seed=seed, device=device, head=head)
    return _limit_length(model, max_length)


def task_loss(module: Any, item: LabelledBatch) -> Tensor:
    """Cross entropy for classification, mean squared error for regression."""
    logits = module(item.batch)
    if module.model.task == "regression":
        return mse_loss(logits.squeeze(-1), item.gold)
    return cross_entropy(logits, item.gold)


def predict(module: Any, data: EncodedDataset) -> NDArray[np.float32]:
    """(N,C) outputs in the order of the data, computed in batches of similar length."""
    lengths = data.data.lengths
    order = np.arange(len(data.gold)) if lengths is None else np.argsort(lengths, kind="stable")
    parts = np.split(order, range(VALIDATION_BATCH, len(order), VALIDATION_BATCH))
    with torch.inference_mode():
        outputs = [module(data.batch(part.tolist()).batch).cpu().numpy() for part in parts]
    in_order: NDArray[np.float32] = np.concatenate(outputs)[np.argsort(order)]
    return in_order


def validation_scores(module: Any, data: EncodedDataset, metrics: Mapping[str, PerformanceMetric]) -> dict[str, float]:
    """The loss and every metric."""
    outputs = predict(module, data)
    logits, gold = torch.from_numpy(outputs), torch.from_numpy(data.gold)
    regression = module.model.task == "regression"
    loss = mse_loss(logits.squeeze(-1), gold) if regression else cross_entropy(logits, gold)
    return {LOSS: float(loss), **{name: metric.score(outputs, data.gold) for name, metric in metrics.items()}}


def _with_direction(recipe: Recipe, metrics: Mapping[str, PerformanceMetric]) -> Recipe:
    """The recipe with the direction of its selection metric."""
    if recipe.selection == LOSS:
        return recipe
    if recipe.selection not in metrics:
        known = nearest(recipe.selection, [LOSS, *metrics])
        raise SpecError(f"selection={recipe.selection!r} is not one of the given metrics; {known}")
    return replace(recipe, better=metrics[recipe.selection].facts.better)


def _labels(train: Dataset, validation: Dataset, task: str) -> tuple[str, ...]:
    """The names of all classes, those of the training data first; a single name for regression."""
    if task == "regression":
        return ("score",)
    if train.task == "regression":
        raise SpecError(f"{train.name or 'the data'} contains scores, not classes; leave the task out")
    names = tuple(dict.fromkeys([*(train.labels or ()), *(validation.labels or ())]))
    if len(names) < 2:
        raise SpecError(f"{train.name or 'the data'} has {len(names)} labels; a classifier needs at least two")
    return names


def _limit_length(model: Model, max_length: int | None) -> Model:
    """Truncate texts at `max_length` positions, in training and in the saved model."""
    model = model.limited(MAX_LENGTH if max_length is None else max_length)
    if isinstance(model.encoder, TextEncoder):
        model.tokenizer.model_max_length = model.encoder.limit
    return model
