"""LIME for text (Ribeiro et al. 2016)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from assay.core.types import Bools
from assay.explainers.protocols import MethodFacts
from assay.masking.flow import Flow, Values


@dataclass(frozen=True)
class Lime:
    """Coefficients of a ridge regression of v on which units are kept, samples weighted by proximity to the input.

    As in the authors' package: the first sample is the input; for the others the number of removed units is uniform in
    1..n and their places are drawn without replacement; weight sqrt(exp(-D^2 / width^2)), D = 100 x cosine distance of
    the keep-vectors; the intercept is not penalised. Weakness: noisy for long inputs unless there are many samples.
    """

    samples: int = 512
    kernel_width: float = 25.0
    ridge: float = 1.0
    seed: int = 0
    facts: ClassVar[MethodFacts] = MethodFacts(
        scale="probability",
        signed=True,
        complete=False,
        class_dependent=True,
        passes="samples f",
        memory="samples x n masks",
    )

    def __post_init__(self) -> None:
        if self.samples < 2 or self.kernel_width <= 0 or self.ridge < 0:
            raise ValueError("samples must be at least 2, kernel_width above 0 and ridge at least 0")

    def needed_samples(self, n: int) -> int:
        """One per coefficient and one for the intercept: with fewer, the ridge alone decides between solutions."""
        return n + 1

    def flow(self, n: int, rng: np.random.Generator) -> Flow:
        keep = sample_keeps(n, self.samples, rng)  # (M,U)
        values = yield keep
        return weighted_ridge(keep.astype(float), values, proximity(keep, self.kernel_width), self.ridge)


def sample_keeps(n: int, samples: int, rng: np.random.Generator) -> Bools:
    """The whole input, then masks with 1..n units removed, each count as likely as any other."""
    removed = rng.integers(1, n + 1, size=samples - 1)
    rank = rng.random((samples - 1, n)).argsort(1).argsort(1)
    return np.vstack([np.ones((1, n), bool), rank >= removed[:, None]])


def proximity(keep: Bools, width: float) -> Values:
    """sqrt(exp(-D^2/width^2)); cos(keep, ones) = sqrt(kept share), and an empty mask is at distance 100."""
    distance = 100 * (1 - np.sqrt(keep.mean(1)))
    weight: Values = np.sqrt(np.exp(-(distance**2) / width**2))
    return weight


def weighted_ridge(x: np.ndarray[Any, Any], y: Values, weight: Values, ridge: float) -> Values:
    """argmin_b sum_m w_m (y_m - a - x_m b)^2 + ridge ||b||^2, with a free intercept a."""
    share = (weight / weight.sum())[:, None]
    x, y = x - (share * x).sum(0), y - (share[:, 0] * y).sum()
    gram = x.T @ (weight[:, None] * x) + ridge * np.eye(x.shape[1])
    solution: Values = np.linalg.lstsq(gram, x.T @ (weight * y), rcond=None)[0]
    return solution
