"""The area between the random baseline's curve and a measure's, as a share of what removal can cost at all."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.core.errors import InputError

Curve = NDArray[np.float64]


def area(ratios: ArrayLike, measure: ArrayLike, random: ArrayLike, *, clip: bool = False) -> Curve:
    """sum 1/2 dx_i (dp_i + dp_i+1) / sum 1/2 dx_i (db_i + db_i+1), dp = b - p, db = b - b_I (Madsen et al. 2022).

    ratios (I,) rise; measure p and random b (...,I) are the performance there, the last being all removed; gives (...).
    The last ratio may stand twice: everything removed, as the floor of a curve that ends before.
    0: no better than random; below 0: worse. The highest value is below 1, because p_0 = b_0, unless p falls below b_I.
    NaN where the baseline encloses no area: if removing everything costs nothing, nothing can be said. `clip` to
    [-1, 1] as published code.
    Weakness: a curve that rises again (class leakage) lowers it; the baseline's noise is in both parts.
    """
    x, p, b = (np.asarray(a, np.float64) for a in (ratios, measure, random))
    rising = x.ndim == 1 and len(x) > 1 and (np.diff(x[:-1]) > 0).all() and x[0] < x[-1] >= x[-2]
    if not rising or p.shape[-1] != len(x) or b.shape[-1] != len(x):
        raise InputError(f"{x.size} ratios, curves of {p.shape} and {b.shape}: give rising ratios and a value at each")
    won = np.trapezoid(b - p, x, axis=-1)
    most = np.trapezoid(b - b[..., -1:], x, axis=-1)
    out: Curve = np.divide(won, most, out=np.full(np.broadcast(won, most).shape, np.nan), where=most > 0)
    return np.clip(out, -1, 1) if clip else out
