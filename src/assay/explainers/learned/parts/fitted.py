"""A fitted explainer: an attribution model, and the card that says for what model and how it was fitted."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import safetensors.torch
import torch
from torch import Tensor

from assay.core.errors import InputError, ModelError, UnsupportedError
from assay.core.types import Scale
from assay.explainers.learned.parts.attribution_model import Attributor, LabelledEncoder, Reading, Trunk
from assay.explainers.learned.parts.losses import LossWeights
from assay.explainers.learned.parts.soft_mask import MaskingLoss, class_mixture
from assay.models.encoding import Batch
from assay.models.model import Model
from assay.models.target import Targets

LENGTH = "max_length"  # of the identity of a model: any number of positions can be explained
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
        return bool(self.settings["objective"] != "masking")

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
        return digest_of(card_bytes(self.card), weight_bytes(self.attributor))

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
        mine, theirs = self.card["identity"], model.identity
        if not any_model and any(mine[key] != theirs[key] for key in mine if key != LENGTH):
            raise ModelError(
                f"this explainer was fitted for {self.card['model']}, and {model.title} is another model (or the same "
                "one with other labels, prompt or precision); fit one for it (assay fit), or allow it with "
                "any_model=True"
            )
        if len(self.card["labels"]) != len(model.labels) or self.card["task"] != model.task:
            raise UnsupportedError(
                f"this explainer was fitted for a {self.card['task']} model with {len(self.card['labels'])} outputs; "
                f"{model.title} is a {model.task} model with {len(model.labels)}"
            )
        inner = self.attributor.model
        if isinstance(inner, Trunk):
            layers, width = self.card["states"]
            found = [model.n_blocks + 1, int(model.hf.config.get_text_config().hidden_size)]
            if [layers, width] != found:
                raise UnsupportedError(
                    f"this explainer reads {layers} layers of width {width}, but {model.title} has {found[0]} of "
                    f"{found[1]}; fit one for it, or one with architecture=encoder, which any model can use"
                )

    def scores(self, model: Model, batch: Batch, reading: Reading, targets: Targets) -> Tensor:
        """(B,T) outputs of the attribution model for resolved targets."""
        attributor = self.attributor_for(model)
        out = class_outputs(attributor, model, batch, reading, targets.labels, soft=self.soft)
        against = [target.against for target in targets.requested]
        if all(other is None for other in against):
            return out
        if not self.signed:
            row = next(i for i, other in enumerate(against) if other is not None)
            raise InputError("masks of a learned explainer cannot hold one class against another; omit against", row)
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


def card_bytes(card: Mapping[str, Any]) -> bytes:
    """The card as it is written."""
    return (json.dumps(card, indent=1, ensure_ascii=False) + "\n").encode()


def weight_bytes(attributor: Attributor) -> bytes:
    """The weights as they are written."""
    return safetensors.torch.save({k: v.cpu().contiguous() for k, v in attributor.state_dict().items()})


def digest_of(card: bytes, weights: bytes) -> str:
    return hashlib.sha256(card + b"\x00" + weights).hexdigest()[:16]


def architecture_of(attributor: Attributor) -> str:
    return "encoder" if isinstance(attributor.model, LabelledEncoder) else "trunk"
