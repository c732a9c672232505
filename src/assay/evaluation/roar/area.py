"""The area between the curves of the random baseline and of a method, relative to the largest possible loss."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import trapezoid  # numpy has it under this name only since 2.0

from assay.core.errors import InputError

Reals = NDArray[np.float64]


def area(ratios: ArrayLike, measure: ArrayLike, random: ArrayLike, *, clip: bool = False) -> Reals:
    """sum 1/2 dx_i (dp_i + dp_i+1) / sum 1/2 dx_i (db_i + db_i+1), dp = b - p, db = b - b_I (Madsen et al. 2022).

    ratios (I,) increase; measure p and random b (...,I) are the performance there, the last with everything removed;
    the result is (...). The last ratio may be repeated: everything removed, as the floor of a curve that ends earlier.
    0 means no better than random, below 0 worse. The maximum is below 1, because p_0 = b_0, unless p falls below b_I.
    NaN where removing everything costs the baseline nothing. `clip` limits values to [-1, 1], as published code does.
    Weakness: a curve that rises again (class leakage) lowers it; the noise of the baseline enters both areas.
    """
    x, p, b = (np.asarray(a, np.float64) for a in (ratios, measure, random))
    rising = x.ndim == 1 and len(x) > 1 and (np.diff(x[:-1]) > 0).all() and x[0] < x[-1] >= x[-2]
    if not rising or p.shape[-1] != len(x) or b.shape[-1] != len(x):
        raise InputError(
            f"{x.size} ratios, curves of {p.shape} and {b.shape}: give rising ratios and one value for each"
        )
    gained = trapezoid(b - p, x, axis=-1)
    largest = trapezoid(b - b[..., -1:], x, axis=-1)
    undefined = np.full(np.broadcast(gained, largest).shape, np.nan)
    out: Reals = np.divide(gained, largest, out=undefined, where=largest > 0)
    return np.clip(out, -1, 1) if clip else out
