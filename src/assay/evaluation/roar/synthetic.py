"""The synthetic problem that recursive ROAR solves and ROAR does not (Madsen et al. 2022, figure 3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from assay.core.errors import SpecError, nearest

Reals = NDArray[np.float64]
Policy = Literal["roar", "recursive", "truth", "worst"]
POLICIES = ("roar", "recursive", "truth", "worst")
FEATURES, INFORMATIVE = 16, 4


@dataclass(frozen=True)
class Synthetic:
    """x = a z/10 + d eta + eps/10, y = [z > 0], a_5..a_16 = 0: four redundant features, twelve uninformative.

    A logistic regression with importance |weight| is fitted again after each step, which sets one feature to 0. The
    step at which ROAR drops depends only on a and d (see `direction`): 10 for seed 0, 4 to 14 for others, because two
    features cannot separate three unknowns.
    """

    train: int = 200_000
    test: int = 50_000
    seed: int = 0

    @cached_property
    def data(self) -> tuple[Reals, Reals, Reals, Reals]:
        """x (N,16) and y (N,) of the training and the test set."""
        rng = np.random.default_rng(self.seed)
        a, d = _vectors(rng)
        (x, y), (held, gold) = (_sample(rng, a, d, n) for n in (self.train, self.test))
        return x, y, held, gold

    @property
    def direction(self) -> Reals:
        """(16,) the limit direction of the full model's weights: a without its parts along d and the noise (1,...,1).

        Gradient descent stays in the span of a, d and 1, and the part orthogonal to d and 1 depends on z alone.
        """
        a, d = _vectors(np.random.default_rng(self.seed))
        others = np.stack([d, np.ones(FEATURES)], 1)
        limit: Reals = a - others @ np.linalg.lstsq(others, a, rcond=None)[0]
        return limit

    def curve(self, policy: Policy) -> Reals:
        """(17,) test accuracy with 0, 1, ..., 16 features removed.

        roar: by the weights of the first model. recursive: by those of the previous model. truth: informative features
        first. worst: informative features last.
        """
        if policy not in POLICIES:
            raise SpecError(f"unknown policy {policy!r}; {nearest(str(policy), POLICIES)}")
        x, y, held, gold = self.data
        keep = np.ones(FEATURES, bool)
        first = weights = fit(x, y)
        out = [_accuracy(weights, held, gold)]
        while keep.any():
            keep[_next(policy, keep, first, weights)] = False
            weights = fit(x * keep, y)
            out.append(_accuracy(weights, held * keep, gold))
        return np.array(out)


def _vectors(rng: np.random.Generator) -> tuple[Reals, Reals]:
    """a and d: four numbers, then sixteen."""
    return np.append(rng.standard_normal(INFORMATIVE), np.zeros(FEATURES - INFORMATIVE)), rng.standard_normal(FEATURES)


def _sample(rng: np.random.Generator, a: Reals, d: Reals, n: int) -> tuple[Reals, Reals]:
    z, eta, noise = rng.standard_normal((3, n))
    return z[:, None] * a / 10 + eta[:, None] * d + noise[:, None] / 10, (z > 0).astype(np.float64)


def _next(policy: Policy, keep: NDArray[np.bool_], first: Reals, weights: Reals) -> int:
    """The most important remaining feature."""
    plain = np.arange(FEATURES, 0.0, -1)
    rank: dict[Policy, Callable[[], Reals]] = {
        "roar": lambda: np.abs(first[:-1]),
        "recursive": lambda: np.abs(weights[:-1]),
        "truth": lambda: plain,
        "worst": lambda: np.roll(plain, INFORMATIVE),
    }
    return int(np.where(keep, rank[policy](), -np.inf).argmax())


def fit(x: Reals, y: Reals, steps: int = 100) -> Reals:
    """(17,) weights and bias of an unpenalised logistic regression by L-BFGS.

    The classes are almost separable, so the weights would grow without limit; they are those after `steps` steps.
    """
    sign = 2 * y - 1

    def loss(w: Reals) -> tuple[float, Reals]:
        margin = sign * (x @ w[:-1] + w[-1])
        slope = -sign * expit(-margin) / len(y)
        return float(np.logaddexp(0, -margin).mean()), np.append(x.T @ slope, slope.sum())

    stop = {"maxiter": steps, "gtol": 1e-4, "ftol": 64 * np.finfo(float).eps}  # the stopping rule of scikit-learn
    weights: Reals = minimize(loss, np.zeros(x.shape[1] + 1), jac=True, method="L-BFGS-B", options=stop).x
    return weights


def _accuracy(weights: Reals, x: Reals, y: Reals) -> float:
    return float(((x @ weights[:-1] + weights[-1] > 0) == (y > 0)).mean())
