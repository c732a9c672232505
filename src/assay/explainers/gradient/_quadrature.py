"""Nodes and weights for integrals over [0, 1]."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import roots_legendre

QuadratureRule = Literal["adaptive", "gauss_legendre", "left", "right", "middle"]
Reals = NDArray[np.float64]

SCAN = 9  # points at which the path's value is computed first, including both ends
WIDTH = 0.07  # how far a change between two of them is spread
SHARE = 0.8  # of the nodes placed where the value changes; the others are spread evenly


def quadrature(rule: QuadratureRule, steps: int) -> tuple[Reals, Reals]:
    """Nodes and weights (S,)."""
    if rule in ("gauss_legendre", "adaptive"):
        nodes, weights = roots_legendre(steps)  # numpy's leggauss takes 10 s for 1,024 nodes
        return (nodes + 1) / 2, weights / 2
    offset = {"left": 0.0, "right": 1.0, "middle": 0.5}[rule]
    return (np.arange(steps) + offset) / steps, np.full(steps, 1 / steps)


def adaptive(values: Reals, steps: int) -> tuple[Reals, Reals]:
    """Nodes and weights (B,S) for paths whose values at SCAN even points are (B,SCAN).

    Gauss-Legendre in a new variable t = T(a), where T rises fast where the value changes: a mixture of the identity and
    of logistic steps at the middle of each interval, as high as the change in it. T is smooth, so the order of
    convergence stays the same with far fewer nodes; weights are scaled to sum to 1, so constants (a linear model) stay
    exact.
    """
    t, weight = quadrature("gauss_legendre", steps)
    change = np.abs(np.diff(values)) + 1e-9
    height = change / change.sum(1, keepdims=True)  # (B,SCAN-1)
    grid = np.linspace(0, 1, 513)
    nodes = np.stack([np.interp(t, _rise(grid, h)[0], grid) for h in height])  # (B,S)
    for _ in range(4):  # Newton's method from the interpolated start
        value, slope = zip(*(_rise(a, h) for a, h in zip(nodes, height, strict=True)), strict=True)
        nodes = np.clip(nodes - (np.stack(value) - t) / np.stack(slope), 0, 1)
    slopes = np.stack([_rise(a, h)[1] for a, h in zip(nodes, height, strict=True)])
    weights = weight / slopes
    return nodes, weights / weights.sum(1, keepdims=True)


def _rise(a: Reals, height: Reals) -> tuple[Reals, Reals]:
    """T(a) and its slope for one path."""
    middles = (np.arange(len(height)) + 0.5) / len(height)
    start, end = _logistic(-middles / WIDTH), _logistic((1 - middles) / WIDTH)
    step = _logistic((a[:, None] - middles) / WIDTH)  # (S,SCAN-1)
    scaled = height / (end - start)
    value = (1 - SHARE) * a + SHARE * ((step - start) * scaled).sum(1)
    return value, (1 - SHARE) + SHARE * (step * (1 - step) / WIDTH * scaled).sum(1)


def _logistic(x: Reals) -> Reals:
    out: Reals = 1 / (1 + np.exp(-x))
    return out
