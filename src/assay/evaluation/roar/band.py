"""Bands of ROAR curves: the mean over seeds with pointwise intervals over seeds and test examples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.core.rng import generator
from assay.evaluation.roar.curves import Ints, Predicted, Reals, Score, curves, draws


@dataclass(frozen=True)
class Band:
    """(I,) each: the mean, and percentiles of the mean over resampled seeds and examples."""

    mean: Reals
    low: Reals
    high: Reals


def band(
    predicted: Predicted,
    gold: Ints,
    score: Score = "macro_f1",
    *,
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Band:
    """Return the band of one method's curve. With one seed it does not cover the variation between trainings."""
    mean = curves(predicted, gold, score)[0].mean(0)
    drawn = curves(predicted, gold, score, draws(len(gold), resamples, seed))  # (R,S,I)
    chosen = generator("roar band", seed).integers(0, drawn.shape[1], drawn.shape[:2])
    means = np.take_along_axis(drawn, chosen[:, :, None], 1).mean(1)
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    return Band(mean, low, high)
