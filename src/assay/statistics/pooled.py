"""Write a weighted mean as an unweighted one, so that intervals and tests need no weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]


def pooled(values: Values, weights: Values) -> Values:
    """The values r + w_i (x_i - r) / mean(w), whose mean is the weighted mean r = sum(w x) / sum(w).

    This is the linearised ratio (delta method): resampling these values is, to first order, resampling examples with
    their weights. Weakness: inaccurate for few examples with very unequal weights.
    """
    mean = np.average(values, weights=weights)
    out: Values = mean + weights * (values - mean) / weights.mean()
    return out
