"""Masked mean of the last hidden states, then one linear layer (the T5 encoder of the thesis)."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor, nn


class Mean(nn.Module):
    """logits = W mean_t(h_t) + b over real positions, without padding."""

    all_layers: ClassVar[bool] = False

    def __init__(self, width: int, classes: int, layers: int = 0, dropout: float = 0.1) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.classifier = nn.Linear(width, classes)

    def forward(self, hidden: Tensor, mask: Tensor) -> Tensor:  # (B,T,D), (B,T) -> (B,C)
        weights = mask.unsqueeze(-1).to(hidden.dtype)
        mean = (hidden * weights).sum(1) / weights.sum(1).clamp(min=1.0)
        logits: Tensor = self.classifier(self.dropout(mean))
        return logits
