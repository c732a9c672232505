"""Simulability of students: agreement with the teacher's classes, or Pearson's correlation with its scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.core.rng import generator
from assay.statistics.bootstrap import Interval

Reals = NDArray[np.float64]
RESAMPLES = 2000


def simulability(students: NDArray[np.generic], teacher: NDArray[np.generic], weights: Reals | None = None) -> Reals:
    """(R,S) scores of S students whose outputs are (S,N), for each of R weightings of the N texts; none: one row.

    Classes (whole numbers): the share of texts on which student and teacher agree. Scores: Pearson's r.
    """
    w = np.ones((1, len(teacher))) if weights is None else np.asarray(weights, np.float64)
    w = w / w.sum(1, keepdims=True)  # (R,N)
    if np.issubdtype(teacher.dtype, np.integer):
        return np.asarray(w @ (students == teacher).T.astype(np.float64), np.float64)
    x, y = np.asarray(students, np.float64), np.asarray(teacher, np.float64)
    mean_x, mean_y = w @ x.T, (w @ y)[:, None]  # (R,S), (R,1)
    covariance = w @ (x * y).T - mean_x * mean_y
    variances = (w @ (x**2).T - mean_x**2).clip(0) * (w @ y**2 - (w @ y) ** 2).clip(0)[:, None]
    constant = variances <= 1e-24 * np.abs(mean_x**2 * mean_y**2 + 1)
    return np.where(constant, 0.0, covariance / np.sqrt(np.where(constant, 1.0, variances)))


def drawn_weights(texts: int, resamples: int = RESAMPLES, seed: int = 0) -> Reals:
    """(R,N) how often each resample of the texts holds each of them."""
    index = generator("simulability texts", seed, texts).integers(0, texts, (resamples, texts))
    flat = index + texts * np.arange(resamples)[:, None]
    return np.bincount(flat.ravel(), minlength=resamples * texts).reshape(resamples, texts).astype(np.float64)


def over_seeds_and_texts(scores: Reals, drawn: Reals, seed: int = 0, confidence: float = 0.95) -> Interval:
    """The mean of scores (S,) over students, with the percentiles of its resamples over students and texts.

    drawn (R,S): the scores under resampled texts. Differences of two methods are given as differences: paired.
    """
    rows, students = drawn.shape
    chosen = generator("simulability students", seed, students).integers(0, students, (rows, students))
    means = np.take_along_axis(drawn, chosen, 1).mean(1)
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(float(np.mean(scores)), float(low), float(high), students)


def quartiles(scores: Reals) -> tuple[float, float, float]:
    """Median, lower and upper quartile over students (linear interpolation), as the paper reports them."""
    low, median, high = np.quantile(scores, [0.25, 0.5, 0.75])
    return float(median), float(low), float(high)
