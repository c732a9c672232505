"""Explanations as distributions over units, and controls that carry no information."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from assay.core.errors import InputError

Reals = NDArray[np.float64]


def shares(scores: NDArray[np.floating], temperature: float | None) -> Reals:
    """softmax(scores / temperature), or without a temperature the scores themselves, divided by their sum.

    Scores that are all 0 give equal shares.
    """
    values = np.asarray(scores, np.float64)
    if temperature is not None:
        return np.asarray(softmax(values / temperature), np.float64)
    if (values < 0).any():
        raise InputError("negative scores are not shares; give a temperature")
    total = values.sum()
    return values / total if total > 0 else np.full(len(values), 1 / len(values))


def spread(rows: list[NDArray[np.floating]]) -> float:
    """The mean over texts of the standard deviation of scores: the unit of a temperature that no paper gives."""
    found = float(np.mean([np.std(np.asarray(row, np.float64)) for row in rows]))
    return found if found > 0 else 1.0


def shuffled(values: NDArray[np.floating], rng: np.random.Generator) -> Reals:
    """The same shares on other units: the same entropy, no information."""
    return np.asarray(rng.permutation(np.asarray(values, np.float64)), np.float64)


def entropy(values: NDArray[np.floating]) -> float:
    """In nats; 0 log 0 = 0."""
    p = np.asarray(values, np.float64)
    p = p[p > 0]
    return float(-(p * np.log(p)).sum())
