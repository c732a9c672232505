"""The learning rate of each step: warm-up, then linear, cosine or constant."""

from __future__ import annotations

import math

from assay.training.recipe import Recipe


def factor(recipe: Recipe, step: int, total: int) -> float:
    """What the peak learning rate is multiplied with at `step`, counted from 0, of `total`.

    With w warm-up steps: s/w up to the peak (from `warmup_from`), then with p = (s-w)/(total-w): linear 1-p, cosine
    (1+cos(pi p))/2, constant 1. As in transformers, the first step of a warm-up from 0 moves nothing.
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
    """A share of all steps, rounded up but never all of them, or from 1 on the number itself.

    The only step of a tiny training would else be one of the warm-up, at a rate of 0.
    """
    return min(math.ceil(round(warmup * total, 6)), total - 1) if warmup < 1 else int(warmup)
