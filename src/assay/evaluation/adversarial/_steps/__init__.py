"""Step rules of the attack, one file each: from the gradient of the objective to a direction.

A step is rate x direction. Directions of a `relative` rule have entries of about 1 whatever the size of the gradient,
so its rate is a share of epsilon.
"""

from __future__ import annotations

from typing import ClassVar, Protocol

from torch import Tensor

from assay.evaluation.adversarial._steps.adam import Adam
from assay.evaluation.adversarial._steps.gradient import Gradient
from assay.evaluation.adversarial._steps.sign import Sign
from assay.evaluation.adversarial._top import StepRule


class Steps(Protocol):
    """The step rule of one ascent, with what it remembers of each input."""

    relative: ClassVar[bool]

    def direction(self, gradient: Tensor, rows: Tensor) -> Tensor:
        """gradient (R,T,D) is that of the inputs `rows` (R,) of the batch; the others have stopped."""


def begin_steps(rule: StepRule, start: Tensor) -> Steps:
    """start: (B,T,D), the embeddings of all inputs of the batch."""
    match rule:
        case "gradient":
            return Gradient()
        case "sign":
            return Sign()
        case "adam":
            return Adam.begin(start)
