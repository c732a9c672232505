"""The three kinds of method. A method is a frozen dataclass whose fields are its parameters.

Black box: `flow` yields masks. White box: `attribute` reads the model. Composite: `combine` joins other methods.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
from torch import Tensor

from assay.core.types import Attribution, Floats, Scale, Scores
from assay.masking.flow import Flow
from assay.models.encoding import Batch
from assay.models.model import Model
from assay.models.target import Targets


class Method(Protocol):
    """What every method declares about itself, verified by the contract tests.

    In `passes` and `memory`: f forward pass, b backward pass, n units, T positions, D width, L layers, H heads.
    """

    scale: ClassVar[Scale]  # default scale
    signed: ClassVar[bool]  # negative scores oppose the target
    complete: ClassVar[bool]  # scores sum to value_full - value_empty
    class_dependent: ClassVar[bool]  # scores depend on the target
    passes: ClassVar[str]  # cost in passes per input
    memory: ClassVar[str]  # memory per input in addition to a forward pass
    revision: ClassVar[int]  # incremented whenever its scores change


def declared() -> tuple[str, ...]:
    """The class variables that every method has."""
    return tuple(Method.__annotations__)


@runtime_checkable
class BlackBox(Method, Protocol):
    """A method that only needs the outputs of masked inputs."""

    def flow(self, n: int, rng: np.random.Generator) -> Flow:
        """Yield keep-masks (M,n), receive values (M,), return scores (n,) or Scores."""


@runtime_checkable
class WhiteBox(Method, Protocol):
    """A method that reads gradients, attention or hidden states.

    It may have a property `rows`: the number of sequences it runs at once per input.
    """

    def attribute(self, model: Model, batch: Batch, targets: Targets) -> Tensor | Scores:
        """(B,T) scores of positions, or (B,T,D) vectors whose norm is the score.

        `targets` may lack the predicted classes: `targets.resolve(logits)` fills them in from the logits of the whole
        inputs. A method that computes these logits returns them in `Scores.logits`, which saves a forward pass.
        """


@runtime_checkable
class Composite(Method, Protocol):
    """A method that combines the attributions of other methods."""

    @property
    def parts(self) -> Sequence[str]:
        """Specs of the methods that it combines."""

    def combine(self, attributions: Sequence[Attribution]) -> Floats | Scores:
        """Scores (U,) from the attributions of its parts for one input."""
