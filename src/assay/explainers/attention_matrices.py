"""Attention matrices recorded by a tap, and the product of layers."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from assay.models.encoding import Batch
from assay.models.model import Model


@dataclass
class HeadMeans:
    """A tap that records the mean over heads of every layer, (B,T,T), so that single heads need no memory."""

    layers: list[Tensor] = field(default_factory=list)

    def probabilities(self, layer: int, probabilities: Tensor) -> Tensor:
        self.layers.append(probabilities.mean(1).float())
        return probabilities

    def values(self, layer: int, values: Tensor) -> Tensor:
        return values


def head_means(model: Model, batch: Batch) -> tuple[list[Tensor], Tensor]:
    """Attention of each layer averaged over heads, rows of padding zeroed, and the logits (B,C) of the same pass."""
    tap = HeadMeans()
    with torch.no_grad():
        logits = model.tapped(batch, tap)
    real = batch.mask.unsqueeze(-1).float()  # (B,T,1)
    return [layer * real for layer in tap.layers], logits


def rollout(layers: list[Tensor]) -> Tensor:
    """R = A_L ... A_2 A_1 (B,T,T): later layers multiply on the left."""
    product = layers[0]
    for layer in layers[1:]:
        product = layer @ product
    return product


def query_mean(matrix: Tensor, batch: Batch) -> Tensor:
    """(B,T,T) -> (B,T): the column mean over real queries."""
    real = batch.mask.float()
    return (matrix * real.unsqueeze(-1)).sum(1) / real.sum(1, keepdim=True)


def read_rows(matrix: Tensor, model: Model, batch: Batch) -> Tensor:
    """(B,T,T) -> (B,T): the row of the position that the head reads; their mean where the head takes a mean."""
    if model.readout.reads_mean:
        return query_mean(matrix, batch)
    row = matrix[torch.arange(len(batch), device=matrix.device), batch.readout]
    return (row + matrix[:, model.family.lead :].mean(1)) / 2 if model.family.pools else row
