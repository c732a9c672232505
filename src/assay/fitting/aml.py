"""Fit an explainer: settings, objective, and the run from texts to a method."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from assay.core.errors import AssayError, SpecError, UnsupportedError
from assay.core.files import check_folder_writable
from assay.core.spec import Spec
from assay.core.types import Scale, Target
from assay.datasets.dataset import Dataset
from assay.explainers.learned.aml import Aml
from assay.explainers.learned.parts.attribution_model import NO_TEXT, Attributor, LabelledEncoder, Trunk
from assay.explainers.learned.parts.fitted import Fitted, architecture_of, class_outputs, learned_mask
from assay.explainers.learned.parts.folder import CARD, FORMAT, KIND, save_fitted
from assay.explainers.learned.parts.losses import LossWeights
from assay.explainers.learned.parts.soft_mask import MaskingLoss, masked_batch
from assay.faithfulness.measuring import metric_removal
from assay.fitting.logistic import LogisticObjective, uniform_sizes
from assay.fitting.masks import FILE, mask_values, value_spread
from assay.fitting.readings import KeptReadings, kept_readings
from assay.fitting.settings import AmlFit
from assay.fitting.shapley import ShapleyObjective, kernel_sizes
from assay.fitting.texts import LEAST, FitBatch, FitTexts, fit_texts
from assay.fitting.validation import Validation
from assay.masking.removal import Removal, removal_for
from assay.models import hooks
from assay.models.load import load_model
from assay.models.model import Model
from assay.models.target import Targets
from assay.training.checkpoint import remove_checkpoint
from assay.training.history import Check, History
from assay.training.loop import OnCheck, TrainingData, fit
from assay.training.pretrained import fixed_seed, pretrained_model
from assay.training.run_folder import LOCK, training_in


@dataclass(frozen=True, eq=False)
class Objectives:
    """The loss of a batch, by the settings."""

    settings: AmlFit
    additive: ShapleyObjective | LogisticObjective | None
    reference: str | None  # removal whose embeddings masks blend with
    spread: float
    readings: KeptReadings | None = None

    def __call__(self, attributor: Attributor, batch: FitBatch) -> Tensor:
        model, s = batch.model, self.settings
        labels = _drawn_classes(batch.outputs, s.other_classes, model.task)
        soft = s.soft
        kept = self.readings
        reading = attributor.read(model, batch.batch, batch.outputs) if kept is None else kept.take(batch)
        outputs = class_outputs(attributor, model, batch.batch, reading, labels, soft=soft)
        losses = []
        if self.additive is not None:
            losses.append(self.additive.loss(batch, outputs, labels))
        if s.masks_softly:
            logits = outputs if s.objective == "masking" else learned_mask(attributor, outputs)
            losses.append(self._masking(batch, logits, labels, soft=soft))
        return torch.stack(losses).sum()

    def _masking(self, batch: FitBatch, logits: Tensor, labels: Tensor, *, soft: bool) -> Tensor:
        model, s = batch.model, self.settings
        requested = tuple(Target(int(label)) for label in labels)
        targets = Targets(requested, "logit", model.task == "multi_label", batch.outputs)
        weights = LossWeights(s.preservation, s.sparsity, s.inverse)
        inputs = masked_batch(model, batch.batch, targets, self.reference, soft=soft, spread=self.spread)
        return MaskingLoss(weights, s.inverse_form, s.sparsity_form, s.masking)(inputs, logits).mean()


def _drawn_classes(outputs: Tensor, share: float, task: str) -> Tensor:
    """(B,) the predicted class or, for a share of the inputs, another; the training loop seeds torch for every step."""
    predicted, classes = outputs.argmax(-1), outputs.shape[-1]
    if task == "regression" or classes < 2:
        return predicted
    other = (torch.rand(len(outputs)) < share).to(predicted.device)
    step = torch.randint(1, classes, (len(outputs),)).to(predicted.device)
    return torch.where(other, (predicted + step) % classes, predicted)


def fit_aml(
    model: Model,
    train: Dataset,
    validation: Dataset,
    settings: AmlFit,
    *,
    folder: Path | None = None,
    on_check: OnCheck | None = None,
    progress: bool | None = None,
    save_seconds: float = 60.0,
) -> Aml:
    """Fit an explainer to a model; the best checkpoint by the metric is kept, and saved if a folder is given.

    The result depends only on model, data and settings; an interrupted fit resumes from the folder to the same weights.
    """
    check_model(model, settings)
    with training_in(folder):
        texts = fit_texts(model, train, least=LEAST, progress=progress)
        held_out = Validation(fit_texts(model, validation, progress=progress), settings.criterion, settings.soft)
        fitted = fit_texts_to(
            texts, held_out, settings, _data_card(train, validation), folder, on_check, progress, save_seconds
        )
        if folder is None:
            return Aml.of(fitted)
        save_fitted(fitted, folder)
        remove_checkpoint(folder)
        (folder / FILE).unlink(missing_ok=True)
        return Aml(str(folder))


def fit_texts_to(
    texts: FitTexts,
    held_out: Validation,
    settings: AmlFit,
    data: Mapping[str, Any],
    folder: Path | None,
    on_check: OnCheck | None,
    progress: bool | None,
    save_seconds: float,
) -> Fitted:
    """Fit to texts that are encoded already, as a search does many times."""
    model = texts.model
    removal, scale = fit_removal(texts, settings), "raw" if model.task == "regression" else settings.learnt_scale
    additive = None if settings.objective == "masking" else _additive(texts, removal, scale, settings, folder, progress)
    spread = _output_spread(texts) if additive is None else additive.spread
    reference = None if removal.shortens else removal.name  # what a mask blends with; None: the model's default
    attributor = new_attributor(model, settings)
    name = settings.criterion.name
    history = fit(
        attributor,
        TrainingData(len(texts), texts.take, texts.lengths),
        Objectives(settings, additive, reference, spread, kept_readings(texts, attributor, progress=progress)),
        lambda module: {name: held_out.value(module)},
        settings.recipe,
        key=f"{texts.fingerprint} {model.fingerprint} {Spec.of(_portable(settings))}",
        resume_key=held_out.texts.fingerprint,
        folder=folder,
        on_check=on_check,
        progress=progress,
        save_seconds=save_seconds,
    )
    attributor.requires_grad_(False).eval()
    learnt = {"removal": removal.name, "reference": reference, "scale": scale, "spread": spread}
    return Fitted(attributor, {**_card(model, attributor, settings, history, held_out, data), **learnt})


def _additive(
    texts: FitTexts, removal: Removal, scale: Scale, settings: AmlFit, folder: Path | None, progress: bool | None
) -> ShapleyObjective | LogisticObjective:
    """The objective whose outputs are parts of a value, with the masks it needs."""
    logistic, independent = settings.objective == "logistic", texts.model.task == "multi_label"
    sizes = uniform_sizes if logistic else kernel_sizes
    values = mask_values(texts, removal, settings.masks, settings.seed, sizes, folder=folder, progress=progress)
    if logistic and scale == "log_odds":
        return LogisticObjective(values, scale, independent, 1.0)
    spread = value_spread(texts, values, scale, independent=independent)
    kind = LogisticObjective if logistic else ShapleyObjective
    return kind(values, scale, independent, spread)


def _portable(settings: AmlFit) -> AmlFit:
    """The settings without the folder of the base, which differs from machine to machine."""
    return settings if settings.base is None else replace(settings, base=Path(settings.base).name)


def check_model(model: Model, settings: AmlFit) -> None:
    """Raise at once if no explainer can be fitted to a model."""
    if model.family.opaque:
        raise UnsupportedError(
            f"an explainer of {model.name}, of which only the answers can be seen, cannot be fitted; use kernel_shap"
        )
    if model.family.images and settings.architecture == "encoder":
        raise UnsupportedError(NO_TEXT)
    if settings.masks_softly and removal_for(model, settings.removal, warn=False).shortens:
        raise SpecError(
            f"removal={settings.removal!r} has no embedding that a mask could blend with; use mask_token, pad, unk or "
            "zero, or objective=logistic"
        )


def fit_removal(texts: FitTexts, settings: AmlFit) -> Removal:
    """The removal of the settings, of the metric (logistic, shapley), or the model's default.

    Where a model adds no special tokens, deleting everything leaves nothing to read.
    """
    model = texts.model
    if settings.removal is None and not settings.masks_softly:
        removal = metric_removal(model, settings.criterion.first)
        if not removal.shortens or all((encoding.unit_of < 0).any() for encoding in texts.encodings):
            return removal
    return removal_for(model, settings.removal)


def new_attributor(model: Model, settings: AmlFit) -> Attributor:
    """The attribution model before fitting."""
    classes = len(model.labels)
    with fixed_seed(settings.seed):
        if settings.architecture == "trunk":
            return Attributor(Trunk(*_states(model), classes, settings.layers)).to(model.device)
        reader = model if settings.base is None else _reader(settings.base, model)
        inner = LabelledEncoder(reader, classes, frozen_embeddings=settings.frozen_embeddings, join=settings.join)
        return Attributor(inner).to(model.device)


def _reader(base: str, model: Model) -> Model:
    """A pretrained encoder; its head, whatever it is, is not used."""
    reader = (
        load_model(base)
        if base == "builtin"
        else pretrained_model(str(Path(base).expanduser()), ["a", "b"], "classification", device=model.device)
    )
    return reader


def _states(model: Model) -> tuple[int, int]:
    """Number and width of the hidden states."""
    hooks.need_blocks(model.hf, model.family)
    return model.n_blocks + 1, int(model.hf.config.get_text_config().hidden_size)


def _output_spread(texts: FitTexts) -> float:
    """The standard deviation of the outputs of a regression; 1 for classes, whose losses need none."""
    return max(float(np.std(texts.outputs)), 1e-6) if texts.model.task == "regression" else 1.0


# --- the card ----------------------------------------------------------------------------------------------------


def _card(
    model: Model,
    attributor: Attributor,
    settings: AmlFit,
    history: History,
    held_out: Validation,
    data: Mapping[str, Any],
) -> dict[str, Any]:
    name = settings.criterion.name
    best = history.best_check
    architecture = architecture_of(attributor)
    shown = {f.name: getattr(_portable(settings), f.name) for f in fields(settings)}
    reader = getattr(attributor.model, "reader", None)
    return {
        "kind": KIND,
        "format": FORMAT,
        "method": "aml",
        "architecture": architecture,
        "states": list(_states(model)) if architecture == "trunk" else None,
        "settings": {**shown, "reader_length": None if reader is None else reader.encoder.limit},
        "metric": name,
        "better": settings.criterion.better,
        "validation": {"best": None if best is None else best.scores[name], "random": held_out.random()},
        "curve": [_point(check, name) for check in history.checks],
        "model": model.title,
        "identity": model.identity,
        "labels": list(model.labels),
        "task": model.task,
        "data": dict(data),
        "versions": {package: version(package) for package in ("assay", "torch", "transformers", "numpy")},
        "python": platform.python_version(),
    }


def _point(check: Check, name: str) -> dict[str, float]:
    return {"step": check.step, "epoch": check.epoch, "loss": check.loss, "value": check.scores[name]}


def _data_card(train: Dataset, validation: Dataset) -> dict[str, Any]:
    return {
        name: {"name": d.name, "split": d.split, "examples": len(d), "fingerprint": d.fingerprint}
        for name, d in (("train", train), ("validation", validation))
    }


def check_output(folder: Path, *, overwrite: bool) -> Path:
    """Check that a folder is new, empty, or holds an unfinished fit; with `overwrite`, a finished one too."""
    folder = folder.expanduser()
    if folder.exists() and not folder.is_dir():
        raise AssayError(f"{folder} is a file; choose a folder")
    if (folder / CARD).exists() and not overwrite:
        raise AssayError(f"{folder} holds a finished explainer; choose another folder or overwrite it (--overwrite)")
    own = {LOCK, FILE, CARD, "README.md", "explainer.safetensors", "encoder", "search.log"}
    others = [] if not folder.is_dir() else [f.name for f in folder.iterdir() if f.name not in own]
    if any(not name.startswith("checkpoint.") for name in others):
        raise AssayError(f"{folder} is not empty (it holds {others[0]}); choose another folder")
    check_folder_writable(folder)
    if overwrite:
        (folder / CARD).unlink(missing_ok=True)
        remove_checkpoint(folder)
    return folder
