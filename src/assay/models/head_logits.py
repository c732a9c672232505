"""Attention logits of every head, averaged over queries, without a matrix of positions by positions.

The mean over queries j of q_j · k_t is (mean of q_j) · k_t. Under a causal mask only the queries after t see t, and
their mean is a difference of running sums.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from assay.models.attention_hooks import Products


@dataclass
class HeadLogits:
    """A reader that keeps, per layer, (B,H,T): the mean over real queries of the logits before the mask.

    Families that show only probabilities (MPNet, DeBERTa) give the mean of log p, which is the same but for a constant
    per head; a softmax over tokens does not see it. Probabilities of 0 count as the smallest float.
    """

    real: Tensor  # (B,T)
    layers: list[Tensor] = field(default_factory=list)

    def products(self, layer: int, products: Products) -> None:
        self.layers.append(mean_logits(products, self.real))

    def probabilities(self, layer: int, probabilities: Tensor) -> None:
        logs = probabilities.clamp(min=torch.finfo(probabilities.dtype).tiny).log()
        self.layers.append(_over_queries(logs, self.real))

    @property
    def heads(self) -> Tensor:
        """(B,L*H,T), layer by layer."""
        return torch.cat(self.layers, 1)


def mean_logits(products: Products, real: Tensor) -> Tensor:
    """(B,H,T): for each key, the mean over the real queries that may attend to it."""
    used = real.to(products.query.dtype)
    query = products.query * used[:, None, :, None]
    if not products.causal:
        mean = query.sum(2, keepdim=True) / used.sum(1)[:, None, None, None]  # (B,H,1,d)
        bias = None if products.bias is None else _over_queries(products.bias, real)
    else:
        if products.bias is not None:
            raise NotImplementedError("a position bias under a causal mask")  # no family of the library has both
        count = _after(used[:, None, :, None], products.window).clamp(min=1)
        mean, bias = _after(query, products.window) / count, None  # (B,H,T,d)
    logits = products.scaling * (mean * products.key).sum(-1)
    return logits if bias is None else logits + bias


def _over_queries(matrix: Tensor, real: Tensor) -> Tensor:
    """(1 or B,H,T,T) -> (B,H,T): the mean over real queries; a single query counts as real."""
    used = real.to(matrix.dtype) if matrix.shape[-2] > 1 else real[:, :1].to(matrix.dtype)
    shared = len(matrix) == 1 < len(real)  # one bias for all rows
    sums = torch.einsum("bj,hjt->bht", used, matrix[0]) if shared else torch.einsum("bj,bhjt->bht", used, matrix)
    return sums / used.sum(1)[:, None, None]


def _after(rows: Tensor, window: int | None) -> Tensor:
    """Sums over the positions t, t+1, ... along axis 2, at most `window` of them."""
    sums = rows.flip(2).cumsum(2).flip(2)
    if window is None or window >= rows.shape[2]:
        return sums
    beyond = torch.cat([sums[:, :, window:], torch.zeros_like(sums[:, :, :window])], 2)
    return sums - beyond
