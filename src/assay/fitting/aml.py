"""Fit an explainer by attributive masking or Shapley values: objective, and the run from texts to a method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from assay.core.errors import SpecError, UnsupportedError
from assay.core.spec import Spec
from assay.core.types import Scale, Target
from assay.datasets.dataset import Dataset
from assay.explainers.learned.aml import Aml
from assay.explainers.learned.parts.attribution_model import NO_TEXT, Attributor, LabelledEncoder, Trunk
from assay.explainers.learned.parts.fitted import Fitted, architecture_of, class_outputs, learned_mask
from assay.explainers.learned.parts.losses import LossWeights
from assay.explainers.learned.parts.model_card import OBJECTIVES
from assay.explainers.learned.parts.soft_mask import MaskingLoss, masked_batch
from assay.faithfulness.measuring import metric_removal
from assay.fitting.card import data_card, explainer_card
from assay.fitting.logistic import LogisticObjective, uniform_sizes
from assay.fitting.masks import FILE, mask_values, value_spread
from assay.fitting.methods.aml import AmlFit
from assay.fitting.readings import KeptReadings, kept_readings
from assay.fitting.run import FitRun, keeping_the_last_good
from assay.fitting.shapley import ShapleyObjective, kernel_sizes
from assay.fitting.source import Note, Source, source_of, started_from, with_weights
from assay.fitting.texts import LEAST, FitBatch, FitTexts, fit_texts
from assay.fitting.validation import Validation
from assay.masking.removal import Removal, removal_for
from assay.models import hooks
from assay.models.load import load_model
from assay.models.model import Model
from assay.models.target import Targets
from assay.training.checkpoint import remove_checkpoint
from assay.training.history import History
from assay.training.loop import TrainingData, fit
from assay.training.pretrained import fixed_seed, pretrained_model


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
            losses.append(self._masking(batch, logits, labels, attributor.reference, soft=soft))
        return torch.stack(losses).sum()

    def _masking(
        self, batch: FitBatch, logits: Tensor, labels: Tensor, learned: Tensor | None, *, soft: bool
    ) -> Tensor:
        model, s = batch.model, self.settings
        requested = tuple(Target(int(label)) for label in labels)
        targets = Targets(requested, "logit", model.task == "multi_label", batch.outputs)
        weights = LossWeights(s.preservation, s.sparsity, s.inverse)
        inputs = masked_batch(
            model, batch.batch, targets, self.reference, soft=soft, spread=self.spread, learned=learned
        )
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
    run: FitRun | None = None,
    note: Note | None = None,
) -> Aml:
    """Fit an explainer to a model; the best checkpoint by the metric is kept, and saved if the run has a folder.

    note: what the card says about where the settings come from.
    """
    run = FitRun() if run is None else run
    check_model(model, settings)
    texts = fit_texts(model, train, least=LEAST, progress=run.progress)
    held_out = Validation(fit_texts(model, validation, progress=run.progress), settings.criterion, settings.soft)
    fitted = fit_texts_to(texts, held_out, settings, data_card(train, validation), run, note)
    if run.folder is None:
        return Aml.of(fitted)
    fitted.save(run.folder)
    remove_checkpoint(run.folder)
    (run.folder / FILE).unlink(missing_ok=True)
    return Aml(str(run.folder))


def fit_texts_to(
    texts: FitTexts,
    held_out: Validation,
    settings: AmlFit,
    data: Mapping[str, Any],
    run: FitRun,
    note: Note | None = None,
) -> Fitted:
    """Fit to texts that are encoded already, as a search does many times."""
    model = texts.model
    removal, scale = fit_removal(texts, settings), "raw" if model.task == "regression" else settings.learnt_scale
    additive = None if settings.objective == "masking" else _additive(texts, removal, scale, settings, run)
    spread = _output_spread(texts) if additive is None else additive.spread
    omits = removal.shortens and not settings.masks_softly  # a mask blends with the model's default instead
    reference = None if omits else removal.name
    source = source_of(settings, model)
    attributor = new_attributor(model, settings) if source is None else started_from(source, settings, model)
    if settings.learned_reference and attributor.reference is None:
        attributor.reference = _first_reference(texts, reference)
    name = settings.criterion.name
    readings = kept_readings(texts, attributor, progress=run.progress)
    objective = Objectives(settings, additive, reference, spread, readings)
    learnt = {"removal": removal.name, "reference": reference, "scale": scale, "spread": spread}
    begun = None if source is None else _begun(source, settings, held_out.value(attributor.eval()))

    def found(history: History) -> Fitted:
        attributor.requires_grad_(False).eval()
        card = explainer_card("aml", model, settings.criterion, history, held_out.against_chance(attributor), data)
        origin = _origin_card(begun, card, settings, note)
        return Fitted(attributor, {**card, **_own_card(model, attributor, settings), **learnt, **origin})

    with keeping_the_last_good(found, run.folder):
        history = fit(
            attributor,
            TrainingData(len(texts), texts.take, texts.lengths),
            objective,
            lambda module: {name: held_out.value(module)},
            settings.recipe,
            key=run.key or f"{texts.fingerprint} {model.fingerprint} {Spec.of(_portable(settings))}{begun or ''}",
            resume_key=held_out.texts.fingerprint,
            folder=run.folder,
            on_check=run.on_check,
            progress=run.progress,
            save_seconds=run.save_seconds,
        )
    return found(history)


def _additive(
    texts: FitTexts, removal: Removal, scale: Scale, settings: AmlFit, run: FitRun
) -> ShapleyObjective | LogisticObjective:
    """The objective whose outputs are parts of a value, with the masks it needs."""
    logistic, independent = settings.objective == "logistic", texts.model.task == "multi_label"
    sizes = uniform_sizes if logistic else kernel_sizes
    values = mask_values(texts, removal, settings.masks, settings.seed, sizes, folder=run.folder, progress=run.progress)
    if logistic and scale == "log_odds":
        return LogisticObjective(values, scale, independent, 1.0)
    spread = value_spread(texts, values, scale, independent=independent)
    kind = LogisticObjective if logistic else ShapleyObjective
    return kind(values, scale, independent, spread)


def _first_reference(texts: FitTexts, removal: str | None) -> torch.nn.Parameter:
    """(D,) the embedding that the removal has at the first unit of the first text; a learned one begins there."""
    batch = texts.take([0]).batch
    row, place = batch.playing.nonzero()[0].tolist()
    embeddings = removal_for(texts.model, removal, warn=False).reference(texts.model, batch)
    return torch.nn.Parameter(embeddings[row, place].detach().float().clone())


def _begun(source: Fitted, settings: AmlFit, value: float) -> Source:
    texts = tuple(source.card.get("texts", ()))
    return Source(Path(str(settings.start)).name, source.digest, str(source.card["model"]), value, texts)


def _origin_card(begun: Source | None, card: Mapping[str, Any], settings: AmlFit, note: Note | None) -> dict[str, Any]:
    """What the fit took from a search or from another explainer."""
    told = [tell for tell in (note, begun and begun.note) if tell]
    notes = [tell(settings.criterion, card["validation"]["best"]) for tell in told]
    found: dict[str, Any] = {"notes": notes} if notes else {}
    if begun is not None:
        found |= {"start": begun.card(), "texts": sorted({*begun.texts, *card.get("texts", ())})}
    return found


def _portable(settings: AmlFit) -> AmlFit:
    """The settings with the names of folders alone, whose places differ from machine to machine."""
    given = {name: getattr(settings, name) for name in ("base", "start", "weights_of")}
    names: dict[str, Any] = {name: Path(value).name for name, value in given.items() if value is not None}
    return replace(settings, **names)


def check_model(model: Model, settings: AmlFit) -> None:
    """Raise at once if no explainer can be fitted to a model."""
    if model.family.opaque:
        raise UnsupportedError(
            f"an explainer of {model.name}, of which only the answers can be seen, cannot be fitted; use kernel_shap"
        )
    if model.family.images and settings.architecture == "encoder":
        raise UnsupportedError(NO_TEXT)
    with_weights(settings)
    source_of(settings, model)
    omits = removal_for(model, settings.removal, warn=False).shortens
    if settings.masks_softly and omits and (settings.masking != "hard" or settings.learned_reference):
        raise SpecError(
            f"removal={settings.removal!r} has no embedding that a mask could blend with; use mask_token, pad, unk or "
            "zero, or masking=hard, or objective=logistic"
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


def _own_card(model: Model, attributor: Attributor, settings: AmlFit) -> dict[str, Any]:
    """The part of the card that only explainers of this method have."""
    architecture = architecture_of(attributor)
    shown = {f.name: getattr(_portable(settings), f.name) for f in fields(settings)}
    reader = getattr(attributor.model, "reader", None)
    return {
        "learnt": OBJECTIVES[settings.objective],
        "architecture": architecture,
        "states": list(_states(model)) if architecture == "trunk" else None,
        "settings": {**shown, "reader_length": None if reader is None else reader.encoder.limit},
    }
