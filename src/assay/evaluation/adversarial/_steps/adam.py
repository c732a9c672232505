"""Steps of Adam (Kingma & Ba 2015)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

FIRST, SECOND = 0.9, 0.999  # decay of the moments, as published
FLOOR = 1e-16  # instead of 1e-8: gradients of a confident model are smaller than that, and their direction counts


@dataclass
class Adam:
    """The mean of past gradients over the root of the mean of their squares, both corrected for their start at 0."""

    mean: Tensor  # (B,T,D)
    square: Tensor  # (B,T,D)
    taken: Tensor  # (B,) steps
    relative: ClassVar[bool] = True

    @staticmethod
    def begin(start: Tensor) -> Adam:
        nothing = torch.zeros_like(start)
        return Adam(nothing, nothing.clone(), start.new_zeros(len(start)))

    def direction(self, gradient: Tensor, rows: Tensor) -> Tensor:
        self.mean[rows] = FIRST * self.mean[rows] + (1 - FIRST) * gradient
        self.square[rows] = SECOND * self.square[rows] + (1 - SECOND) * gradient**2
        self.taken[rows] += 1
        taken = self.taken[rows].view(-1, 1, 1)
        mean, square = self.mean[rows] / (1 - FIRST**taken), self.square[rows] / (1 - SECOND**taken)
        out: Tensor = mean / (square.sqrt() + FLOOR)
        return out
