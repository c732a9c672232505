"""Steps along the gradient, as the thesis has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor


@dataclass(frozen=True)
class Gradient:
    """The gradient itself: where it is small, as on a confident model, so are the steps."""

    relative: ClassVar[bool] = False

    def direction(self, gradient: Tensor, rows: Tensor) -> Tensor:
        return gradient
