"""Performance of many models on resampled test examples, by matrix products."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from assay.core.rng import generator

Score = Literal["macro_f1", "micro_f1", "accuracy"]
Ints = NDArray[np.int64]
Reals = NDArray[np.float64]
Predicted = Ints  # (S,I,N) classes, of S seeds at I ratios


def curves(predicted: Predicted, gold: Ints, score: Score, weights: Reals | None = None) -> Reals:
    """(R,S,I) performance of every seed at every ratio, on R resamples of the examples; R = 1 without `weights`."""
    seeds, points, n = predicted.shape
    return performance(predicted.reshape(-1, n), gold, score, weights).reshape(-1, seeds, points)


def draws(n: int, resamples: int, seed: int) -> Reals:
    """(R,N) counts of each test example in each resample; the same for all curves, so that differences are paired."""
    rng = generator("roar examples", seed)
    return rng.multinomial(n, np.full(n, 1 / n), resamples).astype(np.float64)


def performance(predicted: Ints, gold: Ints, score: Score, weights: Reals | None = None) -> Reals:
    """(R,K) scores of K models' predictions (K,N), each example counted `weights` (R,N) times; None: once.

    micro_f1 of one label per example is the accuracy. macro_f1: the mean over the classes that are predicted or gold.
    """
    counts = np.ones((1, len(gold))) if weights is None else weights
    if score != "macro_f1":
        right: Reals = counts @ (predicted == gold).T.astype(np.float64) / counts.sum(1, keepdims=True)
        return right
    total = present = np.zeros((len(counts), len(predicted)))
    for c in np.union1d(np.unique(predicted), gold):
        chosen, true = predicted == c, gold == c  # (K,N), (N,)
        hits = counts @ (chosen & true).T.astype(np.float64)
        sizes = counts @ chosen.T.astype(np.float64) + (counts @ true.astype(np.float64))[:, None]
        total = total + 2 * hits / np.maximum(sizes, 1)
        present = present + (sizes > 0)
    out: Reals = total / np.maximum(present, 1)
    return out
