"""A learnt mixture of the means of all layers, then two linear layers (the teachers and students of SMaT)."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu


class ScalarMix(nn.Module):
    """mixed = gamma sum_l softmax(w)_l mean_t(h_l,t) over real positions; logits = V gelu(U mixed + a) + b.

    h_0 is what the first block reads, h_l what block l returns. All layers weigh the same at first, and gamma is 1.
    """

    all_layers: ClassVar[bool] = True

    def __init__(self, width: int, classes: int, layers: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.layer_weights = nn.Parameter(torch.zeros(layers + 1))
        self.gamma = nn.Parameter(torch.ones(()))
        self.dropout = nn.Dropout(dropout)
        self.dense = nn.Linear(width, width)
        self.classifier = nn.Linear(width, classes)

    def forward(self, hidden: tuple[Tensor, ...], mask: Tensor) -> Tensor:  # (B,T,D) each, (B,T) -> (B,C)
        logits: Tensor = self.classifier(self.dropout(gelu(self.dense(self.dropout(self.mixed(hidden, mask))))))
        return logits

    def mixed(self, hidden: tuple[Tensor, ...], mask: Tensor) -> Tensor:  # (B,D)
        weights = mask.unsqueeze(-1).to(hidden[0].dtype)
        means = torch.stack([(h * weights).sum(1) for h in hidden], 1) / weights.sum(1).clamp(min=1.0).unsqueeze(1)
        out: Tensor = self.gamma * (self.layer_weights.softmax(0).unsqueeze(-1) * means).sum(1)
        return out
