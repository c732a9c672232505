"""Steps along the sign of the gradient, as in the code of Ghorbani et al. 2019."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor


@dataclass(frozen=True)
class Sign:
    """The steepest step under a bound on the largest entry; entries without a gradient stay."""

    relative: ClassVar[bool] = True

    def direction(self, gradient: Tensor, rows: Tensor) -> Tensor:
        return gradient.sign()
