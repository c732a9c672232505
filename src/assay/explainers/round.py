"""A few inputs that are explained together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.core.spec import Spec
from assay.core.types import Attribution, Target
from assay.masking.game import Game
from assay.models.encoding import Encoding
from assay.models.model import Model
from assay.models.target import Targets


@dataclass(frozen=True)
class Round:
    """Encoded inputs with their targets, and the Game in which all methods share forward passes."""

    model: Model
    indices: tuple[int, ...]  # places in the caller's list, for error messages
    encodings: tuple[Encoding, ...]
    requested: tuple[Target, ...]  # a label may still be None: the predicted class
    game: Game
    budget: int  # positions per forward pass
    seed: int
    attributions: dict[Spec, list[Attribution]] = field(default_factory=dict)  # by method; ensembles reuse them

    def take(self, index: Sequence[int], requested: Sequence[Target]) -> Round:
        """Some of the inputs with other targets. Masks that have run do not run again."""
        return Round(
            self.model,
            tuple(self.indices[i] for i in index),
            tuple(self.encodings[i] for i in index),
            tuple(requested),
            self.game.take(index),
            self.budget,
            self.seed,
        )

    def targets(self, method: Any) -> Targets:
        """The targets of all inputs, on the method's scale where the caller named none."""
        return self.model.targets(self.requested, method.facts.scale)

    def seed_key(self, method: Any, encoding: Encoding) -> tuple[object, ...]:
        """What seeds a method's random draws for an input: never its place in a batch."""
        return self.seed, Spec.of(method), encoding.example.content
