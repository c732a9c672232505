"""Soft masks: word embeddings blended with those of a reference, so that a mask has a gradient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from assay.explainers.learned._losses import (
    InverseLoss,
    LossWeights,
    OutputKind,
    SparsityLoss,
    inverse_loss,
    preservation_loss,
    sparsity_loss,
)
from assay.models.encoding import Batch
from assay.models.model import Model

Masking = Literal["blend", "hard"]


@dataclass(frozen=True)
class MaskedBatch:
    """Inputs with what the losses compare masked ones with."""

    model: Model
    batch: Batch  # with units
    reference: Tensor  # (B,T,D) all units removed
    full: Tensor  # (B,C) outputs of the inputs
    target: Tensor  # (B,C) what F(x') shall be: probabilities, or the outputs of a regression
    labels: Tensor  # (B,) explained classes
    kind: OutputKind

    def logits(self, mask: Tensor) -> Tensor:
        """(B,C) outputs where a share `mask` (B,T) of each position is kept; special tokens stay whole."""
        return self.model.blend(self.batch, torch.where(self.batch.playing, mask, 1.0), self.reference)


@dataclass(frozen=True)
class MaskingLoss:
    """The three losses of a mask, with their weights and forms."""

    weights: LossWeights = LossWeights()
    inverse: InverseLoss = "log"
    sparsity: SparsityLoss = "bce"
    masking: Masking = "blend"

    def __call__(self, inputs: MaskedBatch, mask_logits: Tensor) -> Tensor:
        """(B,) the loss of each input; both masked versions run in one forward pass."""
        w, kept = self.weights, self._mask(mask_logits)
        total = w.sparsity * sparsity_loss(mask_logits, inputs.batch.playing, self.sparsity)
        if w.preservation and w.inverse:
            masked, inverted = doubled(inputs).logits(torch.cat([kept, 1 - kept])).chunk(2)
        else:
            masked = inputs.logits(kept) if w.preservation else None
            inverted = inputs.logits(1 - kept) if w.inverse else None
        if masked is not None and w.preservation:
            total = total + w.preservation * preservation_loss(masked, inputs.target, inputs.kind)
        if inverted is not None and w.inverse:
            lost = inverse_loss(inverted, inputs.full, inputs.labels, inputs.kind, self.inverse)
            total = total + w.inverse * lost
        return total

    def _mask(self, mask_logits: Tensor) -> Tensor:
        """The mask in (0,1); `hard` rounds it and passes the gradient straight through."""
        soft = mask_logits.sigmoid()
        return soft if self.masking == "blend" else (soft > 0.5).to(soft) + soft - soft.detach()


def doubled(inputs: MaskedBatch) -> MaskedBatch:
    """Every input twice, the copies after the originals."""
    twice = [torch.cat([t, t]) for t in (inputs.reference, inputs.full, inputs.target, inputs.labels)]
    return MaskedBatch(inputs.model, inputs.batch.repeat(2), *twice, inputs.kind)
