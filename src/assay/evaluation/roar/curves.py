"""Performance of many models on resampled test examples, in one matrix product each."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

Score = Literal["macro_f1", "micro_f1", "accuracy"]
Ints = NDArray[np.int64]
Reals = NDArray[np.float64]


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
        said, true = predicted == c, gold == c  # (K,N), (N,)
        hits = counts @ (said & true).T.astype(np.float64)
        sizes = counts @ said.T.astype(np.float64) + (counts @ true.astype(np.float64))[:, None]
        total = total + 2 * hits / np.maximum(sizes, 1)
        present = present + (sizes > 0)
    out: Reals = total / np.maximum(present, 1)
    return out
