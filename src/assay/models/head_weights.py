"""Weights of attention heads, and the explanation that weighted heads give (Fernandes et al. 2022).

Differentiable any number of times, also outside the support, where the second derivatives of the package `entmax` are
NaN: fitting heads differentiates through a gradient step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import torch
from torch import Tensor

from assay.core.errors import SpecError, nearest

Normaliser = Literal["sparsemax", "softmax", "entmax15", "none"]
NORMALISERS = get_args(Normaliser)


def sparsemax(phi: Tensor) -> Tensor:
    """Euclidean projection on the simplex (Martins & Astudillo 2016), along the last axis."""
    ordered = phi.sort(-1, descending=True).values
    sums, ranks = ordered.cumsum(-1), _ranks(phi)
    size = (1 + ranks * ordered > sums).sum(-1, keepdim=True)
    threshold = (sums.gather(-1, size - 1) - 1) / size
    return (phi - threshold).clamp(min=0)


def entmax15(phi: Tensor) -> Tensor:
    """1.5-entmax (Peters et al. 2019), between softmax and sparsemax: p = max(phi/2 - tau, 0)^2 with sum 1."""
    half = (phi - phi.max(-1, keepdim=True).values.detach()) / 2  # a shift changes nothing
    ordered, ranks = half.sort(-1, descending=True).values, _ranks(phi)
    mean = ordered.cumsum(-1) / ranks
    spread = ranks * (ordered.square().cumsum(-1) / ranks - mean.square())
    inside = (1 - spread) / ranks
    thresholds = mean - torch.where(inside > 0, inside, 1.0).sqrt() * (inside > 0)  # no infinite slope at 0
    size = (thresholds <= ordered).sum(-1, keepdim=True)
    return (half - thresholds.gather(-1, size - 1)).clamp(min=0).square()


def _ranks(phi: Tensor) -> Tensor:
    return torch.arange(1, phi.shape[-1] + 1, dtype=phi.dtype, device=phi.device)


_FUNCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "sparsemax": sparsemax,
    "softmax": lambda phi: phi.softmax(-1),
    "entmax15": entmax15,
    "none": lambda phi: phi,
}


def normalise(phi: Tensor, how: str) -> Tensor:
    """The weights of heads: on the simplex, unless `how` is none."""
    if how not in NORMALISERS:
        raise SpecError(f"normaliser={how!r}: {nearest(how, NORMALISERS)}")
    return _FUNCTIONS[how](phi)


def initial(heads: int) -> Tensor:
    """1/H for every head: under every normaliser the plain mean over heads."""
    return torch.full((heads,), 1 / heads)


def explanation(heads: Tensor, weights: Tensor, real: Tensor) -> Tensor:
    """(B,T): softmax over real tokens of the weighted attention logits; heads (B,H,T), weights (H,)."""
    logits = torch.einsum("h,bht->bt", weights, heads)
    return logits.masked_fill(real == 0, -torch.inf).softmax(-1)
