"""The learning rate of each step: warm-up, then linear, cosine or constant."""

from __future__ import annotations

import math

from assay.training.recipe import Recipe


def rate_factor(recipe: Recipe, step: int, total: int) -> float:
    """The learning rate at `step` (from 0) of `total`, relative to its peak.

    With w warm-up steps: s/w up to the peak (from `warmup_from`), then with p = (s-w)/(total-w): linear 1-p, cosine
    (1+cos(pi p))/2, constant 1. As in transformers, the first step of a warm-up from 0 has a rate of 0.
    """
    total = recipe.schedule_steps or total
    warmup = warmup_steps(recipe.warmup, total)
    if step < warmup:
        start = recipe.warmup_from / recipe.learning_rate
        return start + (1 - start) * step / warmup
    progress = min(1.0, (step - warmup) / max(1, total - warmup))
    if recipe.schedule == "constant":
        return 1.0
    return 1 - progress if recipe.schedule == "linear" else (1 + math.cos(math.pi * progress)) / 2


def warmup_steps(warmup: float, total: int) -> int:
    """The number of warm-up steps: below 1, `warmup` is a share of all steps; from 1, a number of steps.

    A share is rounded up but never covers all steps: a training run of one step would have a rate of 0.
    """
    return min(math.ceil(round(warmup * total, 6)), total - 1) if warmup < 1 else int(warmup)
