"""A weighted mean as a plain one, so that intervals and paired tests need not know of weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]


def pooled(values: Values, weights: Values) -> Values:
    """r + w_i (x_i - r) / mean(w), whose mean is r = sum(w x) / sum(w) and whose spread is that of r.

    The linearised ratio (delta method): resampling these is, to first order, resampling examples with their weights.
    Weakness: with few examples and very unequal weights the order that is left out shows.
    """
    mean = np.average(values, weights=weights)
    out: Values = mean + weights * (values - mean) / weights.mean()
    return out
