"""The number of training steps, and after which of them to validate."""

from __future__ import annotations

import math
from dataclasses import dataclass

from assay.core.errors import SpecError
from assay.training.recipe import Recipe


@dataclass(frozen=True)
class StepSchedule:
    """Optimiser steps: each takes `accumulation` batches, the last of an epoch perhaps fewer."""

    epochs: int
    per_epoch: int
    checks: frozenset[int]  # number of steps done at each validation

    @property
    def total(self) -> int:
        return self.epochs * self.per_epoch

    @staticmethod
    def of(recipe: Recipe, items: int) -> StepSchedule:
        if items < 1:
            raise SpecError("no training data; give at least one example")
        batches = math.ceil(items / recipe.batch_size)
        steps = math.ceil(batches / recipe.accumulation)
        return StepSchedule(recipe.epochs, steps, _checks(recipe.epochs, steps, recipe.validate_every))


def _checks(epochs: int, steps: int, every: float) -> frozenset[int]:
    """Below 1, the count restarts in each epoch: 0.25 means four checks, the last at its end, 0.32 three."""
    if every < 1:
        within = [max(1, round(k * every * steps)) for k in range(1, int(1 / every + 1e-9) + 1)]
        return frozenset(epoch * steps + step for epoch in range(epochs) for step in within)
    ends = {min(epochs * steps, round(k * every * steps)) for k in range(1, max(1, int(epochs / every + 1e-9)) + 1)}
    return frozenset(ends)
