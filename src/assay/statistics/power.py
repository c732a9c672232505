"""The smallest difference that n examples can detect."""

from __future__ import annotations

import math

from scipy.special import ndtri, stdtrit

SMALL = 30  # with fewer examples, intervals are too narrow and verdicts carry a warning


def detectable(sd: float, n: int, *, alpha: float = 0.05, power: float = 0.8) -> float:
    """The smallest mean difference that a two-sided paired test on n examples detects with the given power.

    δ = (t(1 - α/2) + t(power)) sd / √n, t the quantiles with n - 1 degrees of freedom, sd that of the differences
    (Cohen 1988). The smallest sign-flip p-value is 2 / 2^n: infinite if that is above α, and if only that is not,
    all n normal differences must agree, Φ(δ / sd)^n = power. Weakness: sd is itself estimated from the n examples.
    """
    if n < 2 or 2.0 ** (1 - n) > alpha:
        return math.inf
    by_t = float((stdtrit(n - 1, 1 - alpha / 2) + stdtrit(n - 1, power)) * sd / math.sqrt(n))
    return max(by_t, float(ndtri(power ** (1 / n))) * sd) if 2.0 ** (2 - n) > alpha else by_t
