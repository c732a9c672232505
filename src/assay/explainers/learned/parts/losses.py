"""The losses of attributive masking learning (Barkan et al. 2024), in forms that neither overflow nor lose gradients.

With F the explained model, p its output for the input, y the explained class, x' the input where the mask a keeps a
position and x'' the one where 1 - a keeps it: L = w_p L_p(F(x'), p) + w_a L_a(a) + w_inv L_inv(F(x''), y).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid, softplus

from assay.core.ranges import NOT_NEGATIVE, check_ranges
from assay.explainers.learned.parts.forms import InverseLoss, SparsityLoss


@dataclass(frozen=True)
class LossWeights:
    """The weights of the three losses. 0 leaves a loss out."""

    preservation: float = 1.0
    sparsity: float = 1.0
    inverse: float = 1.0

    def __post_init__(self) -> None:
        check_ranges(self, preservation=NOT_NEGATIVE, sparsity=NOT_NEGATIVE, inverse=NOT_NEGATIVE)


@dataclass(frozen=True)
class OutputKind:
    """How outputs (B,C) are read: classes that exclude each other, independent ones, or one number."""

    independent: bool = False  # multi-label: a sigmoid per class
    spread: float | Tensor | None = None  # regression: the standard deviation of the outputs on the data; or (B,1)


def preservation_loss(logits: Tensor, target: Tensor, kind: OutputKind) -> Tensor:
    """(B,) L_p: cross entropy of F(x') against the distribution `target` (B,C).

    It is at least the entropy of the target, and equal to it where F(x') = F(x). Regression: squared difference in
    units of the spread.
    """
    if kind.spread is not None:
        return ((logits - target) / kind.spread).square().sum(-1)
    if kind.independent:
        return -(target * logsigmoid(logits) + (1 - target) * logsigmoid(-logits)).sum(-1)
    return -(target * logits.log_softmax(-1)).sum(-1)


def inverse_loss(logits: Tensor, full: Tensor, labels: Tensor, kind: OutputKind, form: InverseLoss = "log") -> Tensor:
    """(B,) L_inv: -log(1 - p_y), p_y, or the negative entropy of F(x''); `full` (B,C) are the outputs of the inputs.

    -log(1 - p_y) is logsumexp of all logits minus that of all but y: exact where p_y rounds to 1. Regression:
    exp(-(F(x'') - F(x))^2 / (2 spread^2)), between 0 and 1, so that no output can be pushed away without end.
    """
    if kind.spread is not None:
        return (-((logits - full) / kind.spread).square().sum(-1) / 2).exp()
    own = labels.unsqueeze(-1)
    if form == "negative_entropy":
        return -_entropy(logits, independent=kind.independent)
    if kind.independent:
        chosen = logits.gather(-1, own).squeeze(-1)
        return softplus(chosen) if form == "log" else chosen.sigmoid()
    if form == "probability":
        return logits.softmax(-1).gather(-1, own).squeeze(-1)
    others = logits.scatter(-1, own, -torch.inf)
    return logits.logsumexp(-1) - others.logsumexp(-1)


def sparsity_loss(mask_logits: Tensor, playing: Tensor, form: SparsityLoss = "bce") -> Tensor:
    """(B,) L_a: mean over the positions of units of -log(1 - a), or of a; a = sigmoid(mask_logits)."""
    each = softplus(mask_logits) if form == "bce" else mask_logits.sigmoid()
    return (each * playing).sum(-1) / playing.sum(-1).clamp(min=1)


def _entropy(logits: Tensor, *, independent: bool) -> Tensor:
    if independent:
        p = logits.sigmoid()
        return -(p * logsigmoid(logits) + (1 - p) * logsigmoid(-logits)).sum(-1)
    log_p = logits.log_softmax(-1)
    return -(log_p.exp() * log_p).sum(-1)
