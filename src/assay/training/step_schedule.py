"""How many steps a training has, and after which of them it validates."""

from __future__ import annotations

import math
from dataclasses import dataclass

from assay.core.errors import SpecError
from assay.training.recipe import Recipe


@dataclass(frozen=True)
class Plan:
    """Counted in optimiser steps; a step takes `accumulation` batches, the last of an epoch perhaps fewer."""

    epochs: int
    per_epoch: int
    checks: frozenset[int]  # steps done when the model is validated

    @property
    def total(self) -> int:
        return self.epochs * self.per_epoch

    @staticmethod
    def of(recipe: Recipe, items: int) -> Plan:
        if items < 1:
            raise SpecError("there is nothing to train on; give at least one example")
        batches = math.ceil(items / recipe.batch_size)
        steps = math.ceil(batches / recipe.accumulation)
        return Plan(recipe.epochs, steps, _checks(recipe.epochs, steps, recipe.validate_every))


def _checks(epochs: int, steps: int, every: float) -> frozenset[int]:
    """Below 1 the count starts anew in each epoch, so that four checks of 0.25 end with it and 0.32 has three."""
    if every < 1:
        within = [max(1, round(k * every * steps)) for k in range(1, int(1 / every + 1e-9) + 1)]
        return frozenset(epoch * steps + step for epoch in range(epochs) for step in within)
    ends = {min(epochs * steps, round(k * every * steps)) for k in range(1, max(1, int(epochs / every + 1e-9)) + 1)}
    return frozenset(ends)
