"""How a bias is divided among the sources of a position, so that their vectors still sum to its state."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

BiasRule = Literal["absdot", "abssim", "norm", "equal", "cls", "bias_token"]


def share(vectors: Tensor, bias: Tensor | None, bias_rule: BiasRule | None, like: Tensor | None = None) -> Tensor:
    """X_ij + w_ij b_i with sum_j w_ij = 1, in place: (R,J,D), bias (D,) or one per row (R,D).

    `like` (R,J): for absdot, products <x_ij, b> to use as weights instead of those of `vectors`.
    """
    if bias is None or bias_rule is None:
        return vectors
    if bias_rule in ("cls", "bias_token"):
        vectors[:, 0 if bias_rule == "cls" else -1] += bias
        return vectors
    weights = _to_one(_weights(vectors, bias, bias_rule) if like is None else like.abs_())  # (R,J)
    return vectors.addcmul_(weights.unsqueeze(-1), bias.unsqueeze(-2))


def _weights(vectors: Tensor, bias: Tensor, bias_rule: BiasRule) -> Tensor:
    """(R,J) the weight of each source, before normalisation."""
    if bias_rule == "equal":
        return (vectors != 0).any(-1).to(vectors.dtype)
    if bias_rule == "norm":
        return lengths(vectors)
    dots = (vectors @ bias.unsqueeze(-1)).squeeze(-1).abs_()
    if bias_rule == "absdot":
        return dots
    length = lengths(vectors)  # abssim; the length of the bias cancels
    return torch.where(length == 0, 0.0, dots / torch.where(length == 0, 1.0, length))


def lengths(vectors: Tensor) -> Tensor:
    """|X_ij|: (...,D) -> (...)"""
    length: Tensor = torch.linalg.vector_norm(vectors, dim=-1)
    return length


def _to_one(weights: Tensor) -> Tensor:
    """Normalise rows to sum to 1, in place; the tiny number gives a row of zeros to its first position."""
    weights[:, 0] += torch.finfo(weights.dtype).tiny
    return weights.div_(weights.sum(-1, keepdim=True))
