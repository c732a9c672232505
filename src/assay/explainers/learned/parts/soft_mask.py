"""Soft masks: word embeddings blended with those of a reference, so that a mask has a gradient."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from assay.explainers.learned.parts.forms import InverseLoss, Masking, SparsityLoss
from assay.explainers.learned.parts.losses import (
    LossWeights,
    OutputKind,
    inverse_loss,
    preservation_loss,
    sparsity_loss,
)
from assay.masking.removal import Removal, removal_for
from assay.models.encoding import Batch
from assay.models.model import Model
from assay.models.target import Targets

IMPOSSIBLE = -1e4  # logit of a class that is left out of a comparison; finite, as 0 * inf is NaN


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
    compared: Tensor | None = None  # (B,C) the classes that count, where a class is held against another
    omission: Removal | None = None  # leaves positions out; only the gradient is that of blending

    def logits(self, mask: Tensor) -> Tensor:
        """(B,C) outputs where a share `mask` (B,T) of each position is kept; special tokens stay whole."""
        kept = torch.where(self.batch.playing, mask, 1.0)
        logits = self.model.blend(self.batch, kept, self.reference)
        if self.omission is not None:
            logits = self._omitted(kept, self.omission) + logits - logits.detach()
        return logits if self.compared is None else logits.masked_fill(~self.compared, IMPOSSIBLE)

    @torch.no_grad()
    def _omitted(self, kept: Tensor, removal: Removal) -> Tensor:
        """(B,C) outputs of the shorter texts that hold only positions of which more than half is kept."""
        keeps = (kept > 0.5).numpy(force=True)
        pairs = zip(self.batch.encodings, keeps, strict=True)
        rows = [removal.rows(self.model, e, keep[None, : len(e)]) for e, keep in pairs]
        return self.model.logits(self.model.batch(rows))


def masked_batch(
    model: Model,
    batch: Batch,
    targets: Targets,
    removal: str | None,
    *,
    soft: bool = True,
    spread: float | Tensor | None = None,
    learned: Tensor | None = None,
) -> MaskedBatch:
    """Inputs for the losses; `targets` are resolved.

    removal: what a mask of 0 leaves; one that shortens texts is for hard masks, whose gradient is then that of blending
    with the model's default. soft: F(x') shall be F(x) where the predicted class is explained, and the class alone
    elsewhere. learned: (D,) an embedding instead of the removal's.
    """
    assert targets.full is not None
    full, labels = targets.full.detach(), targets.labels
    how = removal_for(model, removal, warn=False)
    omission = how if how.shortens else None
    how = removal_for(model, None, warn=False) if how.shortens else how
    reference = how.reference(model, batch).detach()
    if learned is not None:
        reference = torch.where(batch.playing.unsqueeze(-1), learned.to(reference), reference)
    if model.task == "regression":
        kind = OutputKind(spread=_own_spread(model, batch, reference, full) if spread is None else spread)
        return MaskedBatch(model, batch, reference, full, full, labels, kind, None, omission)
    compared = _compared(targets, full)
    full = full if compared is None else full.masked_fill(~compared, IMPOSSIBLE)
    independent = model.task == "multi_label"
    target = full.sigmoid() if independent else class_mixture(full, labels, soft=soft)
    return MaskedBatch(model, batch, reference, full, target, labels, OutputKind(independent), compared, omission)


def class_mixture(full: Tensor, labels: Tensor, *, soft: bool) -> Tensor:
    """(B,C) softmax of the outputs where the predicted class is explained (if `soft`), the class alone elsewhere."""
    alone = one_hot(labels, full.shape[-1]).to(full)
    if not soft:
        return alone
    return torch.where((full.argmax(-1) == labels).unsqueeze(-1), full.softmax(-1), alone)


def _compared(targets: Targets, full: Tensor) -> Tensor | None:
    """The two classes of each comparison; of a multi-label model, only the explained class counts."""
    alone = one_hot(targets.labels, full.shape[-1]).bool()
    if targets.independent:
        return alone
    if all(target.against is None for target in targets.requested):
        return None
    rows = [torch.ones_like(own) if t.against is None else own for own, t in zip(alone, targets.requested, strict=True)]
    kept = torch.stack(rows)
    for row, target in zip(kept, targets.requested, strict=True):
        if target.against is not None:
            row[int(target.against)] = True
    return kept


@torch.no_grad()
def _own_spread(model: Model, batch: Batch, reference: Tensor, full: Tensor) -> Tensor:
    """(B,1) how far the output moves if everything is removed: the scale of a regression without data."""
    empty = model.blend(batch, torch.where(batch.playing, 0.0, 1.0).to(reference), reference)
    return (full - empty).abs().clamp(min=1e-6)


@dataclass(frozen=True)
class MaskingLoss:
    """The three losses of a mask, with their weights and forms."""

    weights: LossWeights = field(default_factory=LossWeights)
    inverse: InverseLoss = "log"
    sparsity: SparsityLoss = "bce"
    masking: Masking = "blend"

    def __call__(self, inputs: MaskedBatch, mask_logits: Tensor) -> Tensor:
        """(B,) the loss of each input; both masked versions run in one forward pass."""
        w, kept = self.weights, self._mask(mask_logits)
        total = w.sparsity * sparsity_loss(mask_logits, inputs.batch.playing, self.sparsity)
        sides = ((kept, w.preservation), (1 - kept, w.inverse))
        masked: Tensor | None
        inverted: Tensor | None
        if w.preservation and w.inverse:
            masked, inverted = doubled(inputs).logits(torch.cat([kept, 1 - kept])).chunk(2)
        else:
            masked, inverted = (inputs.logits(m) if used else None for m, used in sides)
        if masked is not None:
            total = total + w.preservation * preservation_loss(masked, inputs.target, inputs.kind)
        if inverted is not None:
            lost = inverse_loss(inverted, inputs.full, inputs.labels, inputs.kind, self.inverse)
            total = total + w.inverse * lost
        return total

    def _mask(self, mask_logits: Tensor) -> Tensor:
        """The mask in (0,1); `hard` rounds it and passes the gradient straight through."""
        soft = mask_logits.sigmoid()
        return soft if self.masking == "blend" else (soft > 0.5).to(soft) + soft - soft.detach()


def doubled(inputs: MaskedBatch) -> MaskedBatch:
    """Every input twice, the copies after the originals."""
    reference, full, target, labels = (
        torch.cat([t, t]) for t in (inputs.reference, inputs.full, inputs.target, inputs.labels)
    )
    compared = None if inputs.compared is None else torch.cat([inputs.compared] * 2)
    spread, kind = inputs.kind.spread, inputs.kind
    if isinstance(spread, Tensor):
        kind = OutputKind(kind.independent, torch.cat([spread, spread]))
    return replace(
        inputs,
        batch=inputs.batch.repeat(2),
        reference=reference,
        full=full,
        target=target,
        labels=labels,
        kind=kind,
        compared=compared,
    )
