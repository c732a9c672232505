"""A fitted explainer: an attribution model, and the card that says for what model and how it was fitted."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from torch import Tensor

from assay.core.errors import InputError, UnsupportedError
from assay.core.types import Scale
from assay.explainers.learned.parts.attribution_model import Attributor, LabelledEncoder, Reading, Trunk
from assay.explainers.learned.parts.losses import LossWeights
from assay.explainers.learned.parts.saved import check_same_model, digest_of, save_explainer, unsaved
from assay.explainers.learned.parts.soft_mask import MaskingLoss, class_mixture
from assay.models.encode import TextEncoder
from assay.models.encoding import Batch
from assay.models.model import Model
from assay.models.target import Targets

ENCODER = "encoder"  # folder of an attribution model's own encoder
SPREAD = 2.0  # standard deviation of the mask logits that scores start a refinement with


@dataclass(frozen=True, eq=False)
class Fitted:
    """What the folder of an explainer holds."""

    attributor: Attributor
    card: Mapping[str, Any]
    _placed: dict[Any, Attributor] = field(default_factory=dict, repr=False)

    @property
    def settings(self) -> Mapping[str, Any]:
        settings: Mapping[str, Any] = self.card["settings"]
        return settings

    @property
    def signed(self) -> bool:
        """Whether scores are parts of the explained value; otherwise they are masks in (0,1)."""
        return is_signed(self.settings)

    @property
    def scale(self) -> Scale:
        scale: Scale = self.card["scale"]
        return scale

    @property
    def soft(self) -> bool:
        return bool(self.settings["target"] == "soft")

    @cached_property
    def digest(self) -> str:
        """A hash of the weights and the card."""
        return digest_of(self.card, self.attributor.state_dict())

    @property
    def loss(self) -> MaskingLoss:
        """The losses that a refinement minimises: those of the fit."""
        s = self.settings
        weights = LossWeights(s["preservation"], s["sparsity"], s["inverse"])
        return MaskingLoss(weights, s["inverse_form"], s["sparsity_form"], s["masking"])

    def attributor_for(self, model: Model) -> Attributor:
        """The attribution model on the device of the explained model, in float64 if that model is."""
        dtype = torch.float64 if model.dtype == torch.float64 else torch.float32
        key = (model.device, dtype)
        if key not in self._placed:
            self._placed.clear()
            self._placed[key] = copy.deepcopy(self.attributor).to(model.device, dtype).eval().requires_grad_(False)
        return self._placed[key]

    def check_model(self, model: Model, *, any_model: bool) -> None:
        """Raise unless the explainer belongs to this model, or fits its shape where another one is allowed."""
        check_same_model(self.card, model, any_model=any_model)
        inner = self.attributor.model
        if isinstance(inner, Trunk):
            layers, width = self.card["states"]
            found = [model.n_blocks + 1, int(model.hf.config.get_text_config().hidden_size)]
            if [layers, width] != found:
                raise UnsupportedError(
                    f"this explainer reads {layers} layers of width {width}, but {model.title} has {found[0]} of "
                    f"{found[1]}; fit one for it, or one with architecture=encoder, which any model can use"
                )

    def save(self, folder: Path) -> None:
        """Write the folder of the explainer."""
        if isinstance(self.attributor.model, LabelledEncoder):
            _save_encoder(self.attributor.model, folder / ENCODER)
        save_explainer(folder, self.card, self.attributor.state_dict())

    def scores(self, model: Model, batch: Batch, reading: Reading, targets: Targets) -> Tensor:
        """(B,T) outputs of the attribution model for resolved targets."""
        attributor = self.attributor_for(model)
        out = class_outputs(attributor, model, batch, reading, targets.labels, soft=self.soft)
        against = [target.against for target in targets.requested]
        if all(other is None for other in against):
            return out
        if not self.signed:
            row = next(i for i, other in enumerate(against) if other is not None)
            raise InputError("masks of a learned explainer cannot compare one class with another; omit against", row)
        labels = targets.labels.tolist()
        others = torch.tensor([y if a is None else int(a) for y, a in zip(labels, against, strict=True)])
        held = torch.tensor([a is not None for a in against], device=out.device).unsqueeze(1)
        minus = class_outputs(attributor, model, batch, reading, others.to(out.device), soft=self.soft)
        return torch.where(held, out - minus, out)

    def mask_logits(self, outputs: Tensor, playing: Tensor) -> Tensor:
        """Outputs as the logits of a mask: as they are, as learnt for both objectives, or standardised per input."""
        objective = self.settings["objective"]
        if objective == "masking":
            return outputs
        if objective == "both":
            return learned_mask(self.attributor, outputs)
        count = playing.sum(1, keepdim=True).clamp(min=1)
        centred = torch.where(playing, outputs - (outputs * playing).sum(1, keepdim=True) / count, 0.0)
        size = (centred.square().sum(1, keepdim=True) / count).sqrt().clamp(min=1e-9)
        return SPREAD * centred / size


def is_signed(settings: Mapping[str, Any]) -> bool:
    """Whether the scores of an explainer with these settings are parts of the explained value."""
    return bool(settings["objective"] != "masking")


def class_outputs(
    attributor: Attributor, model: Model, batch: Batch, reading: Reading, labels: Tensor, *, soft: bool
) -> Tensor:
    """(B,T) outputs for the classes `labels` (B,); a regression has one output."""
    logits = reading.logits.detach()
    mixture = (
        torch.ones_like(logits)
        if model.task == "regression"
        else class_mixture(logits, labels.to(logits.device), soft=soft and model.task == "classification")
    )
    out: Tensor = attributor(model, batch, reading, mixture)
    return out


def learned_mask(attributor: Attributor, outputs: Tensor) -> Tensor:
    """The mask logits of outputs that are Shapley values too."""
    return attributor.gain.to(outputs) * outputs + attributor.offset.to(outputs)


def architecture_of(attributor: Attributor) -> str:
    return "encoder" if isinstance(attributor.model, LabelledEncoder) else "trunk"


def _save_encoder(model: LabelledEncoder, folder: Path) -> None:
    """Its configuration and tokenizer; its weights are with the others."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        config: Any = model.encoder.config
        config.save_pretrained(folder)
        assert isinstance(model.reader.encoder, TextEncoder)
        model.reader.tokenizer.backend_tokenizer.no_truncation()  # otherwise the setting of the last call is saved
        model.reader.tokenizer.save_pretrained(folder)
    except (OSError, RuntimeError, SafetensorError) as error:
        raise unsaved(folder.parent, error) from error
