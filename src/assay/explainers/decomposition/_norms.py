"""Norms of sum_h A^h_ij f^h_j without the vectors themselves: a quadratic form of H x H numbers per position."""

from __future__ import annotations

import torch
from torch import Tensor


def lengths(probabilities: Tensor, brought: Tensor, own: Tensor | None = None) -> Tensor:
    """|sum_h A^h_ij f^h_j + [i = j] own_i|: (B,T,H,T), (B,T,H,D), (B,T,D) -> (B,T,T)

    |sum_h a_h f_h|^2 = a' F F' a. In float64, since heads may cancel.
    """
    brought, a = brought.double(), probabilities.permute(0, 3, 1, 2).double()  # (B,J,H,D), (B,J,I,H)
    gram = brought @ brought.transpose(-1, -2)  # (B,J,H,H)
    squares = ((a @ gram) * a).sum(-1).transpose(1, 2)  # (B,I,J)
    if own is not None:
        own = own.double()
        paid = a.diagonal(dim1=1, dim2=2).transpose(1, 2)  # (B,T,H) attention of each position to itself
        crossed = (brought @ own.unsqueeze(-1)).squeeze(-1)  # (B,T,H)
        squares = squares + torch.diag_embed(2 * (paid * crossed).sum(-1) + own.square().sum(-1))
    return squares.clamp(min=0).sqrt()
