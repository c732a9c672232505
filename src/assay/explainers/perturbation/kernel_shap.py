"""KernelSHAP: Shapley values from sampled masks (Lundberg & Lee 2017)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from assay.core.types import Bools, Scores
from assay.explainers.protocols import MethodFacts
from assay.masking.flow import Flow, Values

INTERACTIONS = 3.0  # prior weight of interactions: degree k has variance about INTERACTIONS^k / k!


@dataclass(frozen=True)
class KernelShap:
    """Shapley values phi_i = sum over S without i of |S|! (n-|S|-1)! / n! (v(S + i) - v(S)).

    Exact when all 2^n masks fit into `samples`. Otherwise masks come in pairs with their complement: every single unit
    first, then sizes drawn uniformly. `interactions` (default) fits a linear model plus a Gaussian process over odd
    interactions, the only ones that affect Shapley values once masks are paired; `least_squares` is the weighted
    regression of the paper, weight (n-1) / (C(n,s) s (n-s)). With both, scores sum to v(all) - v(none).
    Weakness: depends on masks far from any real text; under-sampled for inputs of more than samples / 2 units.
    """

    samples: int = 512
    estimator: Literal["interactions", "least_squares"] = "interactions"
    seed: int = 0
    facts: ClassVar[MethodFacts] = MethodFacts(
        scale="probability",
        signed=True,
        complete=True,
        class_dependent=True,
        passes="at most samples f",
        memory="samples x n masks; samples^2 / 4 for the fit",
    )

    def __post_init__(self) -> None:
        if self.samples < 4:
            raise ValueError("samples must be at least 4")

    def needed_samples(self, n: int) -> int:
        """A pair of masks per unit, so that every unit is removed alone once, and the two ends."""
        return 2 * n + 2 if n > 2 else int(2**n)

    def flow(self, n: int, rng: np.random.Generator) -> Flow:
        if 2**n <= self.samples:
            keep = all_masks(n)
            values = yield keep
            return Scores(exact_shapley(keep, values), {"exact": True})
        half = np.vstack([np.ones((1, n), bool), half_masks(n, (self.samples - 2) // 2, rng)])  # (P,U)
        values = yield np.vstack([half, ~half])
        odd = (values[: len(half)] - values[len(half) :]) / 2  # (P,)
        fit = with_interactions if self.estimator == "interactions" else least_squares
        return Scores(fit(half, odd), {"exact": False})


def all_masks(n: int) -> Bools:
    """(2^n, n), row m the binary digits of m."""
    return (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(bool)


def exact_shapley(keep: Bools, values: Values) -> Values:
    """The definition, over the rows of `all_masks`."""
    n = keep.shape[1]
    size, index = keep.sum(1), np.arange(2**n)
    weight = np.array([math.factorial(s) * math.factorial(n - s - 1) / math.factorial(n) for s in range(n)])
    without = [index[~keep[:, i]] for i in range(n)]
    return np.array([(weight[size[w]] * (values[w + 2**i] - values[w])).sum() for i, w in enumerate(without)])


def half_masks(n: int, pairs: int, rng: np.random.Generator) -> Bools:
    """One mask of each of `pairs` distinct complementary pairs: the single units, then sizes 2..n-2 drawn uniformly."""
    masks = {row.tobytes(): row for row in _first_kept(np.eye(n, dtype=bool)[rng.permutation(n)[:pairs]])}
    wanted = min(pairs, 2 ** (n - 1) - 1)
    low = 2 if n > 3 else 1
    while len(masks) < wanted:
        size = rng.integers(low, n - low + 1, size=wanted)
        rank = rng.random((wanted, n)).argsort(1).argsort(1)
        for row in _first_kept(rank < size[:, None]):
            masks.setdefault(row.tobytes(), row)
    return np.array(list(masks.values())[:wanted])


def _first_kept(keep: Bools) -> Bools:
    """Represent each pair by the mask that keeps the first unit."""
    return np.where(keep[:, :1], keep, ~keep)


def with_interactions(half: Bools, odd: Values) -> Values:
    """Shapley values of odd(x) = <b, x> + g(x), x = +-1, g a Gaussian process over interactions of degree 3, 5, ...

    g has covariance sum over odd |A| >= 3 of lam^|A| prod_(i in A) x_i y_i. In this (Fourier) basis the Shapley value
    of i is 2 sum over odd A with i of c_A / |A|; b is the process's trend by generalised least squares.
    """
    n = half.shape[1]
    lam = min(INTERACTIONS / n, 0.9)
    x = np.where(half, 1.0, -1.0)  # (P,U)
    gram = _covariance((x @ x.T + n) / 2, n, lam)
    top = gram[0, 0]
    factor = cho_factor(gram / top + 1e-9 * np.eye(len(x)))
    solved = cho_solve(factor, x)
    trend: Values = np.linalg.lstsq(x.T @ solved, solved.T @ odd, rcond=None)[0]
    rest = cho_solve(factor, odd - x @ trend)  # (P,)
    shapley: Values = 2 * (trend + rest @ _shares(x, lam) / top)
    shapley += (2 * odd[0] - shapley.sum()) / n  # corrects rounding and the jitter
    return shapley


def _covariance(agree: Values, n: int, lam: float) -> Values:
    """Odd part of prod(1 + lam x_i y_i) without its degree 1, by the number of places where x and y agree."""
    up, down = (1 + lam) ** agree * (1 - lam) ** (n - agree), (1 - lam) ** agree * (1 + lam) ** (n - agree)
    covariance: Values = (up - down) / 2 - lam * (2 * agree - n)
    return covariance


def _shares(x: Values, lam: float) -> Values:
    """(P,U) sum over odd |A| >= 3 with i of lam^|A| / |A| prod_A x = x_i int_0^lam (even part of the others - 1)."""
    nodes, weights = np.polynomial.legendre.leggauss(32)
    t, dt = lam * (nodes + 1) / 2, lam * weights / 2  # (K,)
    n = x.shape[1]
    plus = (x > 0).sum(1, keepdims=True) - (x > 0)  # (P,U) kept among the others
    p = np.arange(n)[:, None]  # every count that `plus` can be
    even = ((1 + t) ** p * (1 - t) ** (n - 1 - p) + (1 - t) ** p * (1 + t) ** (n - 1 - p)) / 2 - 1
    shares: Values = x * (even @ dt)[plus]
    return shares


def least_squares(half: Bools, odd: Values) -> Values:
    """The paper's weighted regression on paired masks, each size's kernel mass divided among its sampled masks."""
    n = half.shape[1]
    keep, total = half[1:], 2 * odd[0]
    size = np.minimum(keep.sum(1), n - keep.sum(1))
    masks_of_size = np.bincount(size, minlength=n + 1)
    weight = (n - 1) / (size * (n - size)) / masks_of_size[size]
    x = np.where(keep, 1.0, -1.0)
    design, y = x[:, :-1] - x[:, -1:], 2 * odd[1:] - x[:, -1] * total
    root = np.sqrt(weight)
    first: Values = np.linalg.lstsq(root[:, None] * design, root * y, rcond=None)[0]
    return np.append(first, total - first.sum())
