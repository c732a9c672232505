"""MaSF: a test of whether masked inputs are in the model's distribution (Heller et al. 2022; Madsen et al. 2024)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from assay.core.errors import InputError

Reals = NDArray[np.float64]
LEVEL = 0.05


@dataclass(frozen=True, eq=False)
class Masf:
    """p-values of new inputs against `reference` (N,L,D): the largest activation over words, per layer and dimension.

    Two-sided empirical p-values per dimension are combined over dimensions by Simes and over layers by Fisher, each
    followed by its own empirical p-value. For inputs from the reference distribution, p is uniform: 5 % are below 0.05.
    Only ranks matter, so monotone transformations of activations have no effect. Reference and new inputs are ranked in
    the same way, each including itself, so that ties stay ties. Weakness: with N reference inputs, no p is below
    1/(N+1).
    """

    reference: Reals

    def __post_init__(self) -> None:
        if self.reference.ndim != 3 or len(self.reference) < 2:
            raise InputError(f"reference of shape {self.reference.shape}: give (N,L,D) with N of at least 2")

    def p_values(self, features: Reals) -> Reals:
        """(M,) of new inputs (M,L,D)."""
        n = len(self.reference)
        unusual = simes(_two_sided(self._sorted, features, own=False))  # (M,L)
        layers = (_at_most(self._simes, unusual) + 1) / (n + 1)
        p: Reals = (n - _below(self._fisher[:, None], fisher(layers)[:, None])[:, 0] + 1) / (n + 1)
        return p

    def outside(self, features: Reals) -> float:
        """The share of out-of-distribution inputs at a level of 5 %; about 5 % if there are none."""
        return float((self.p_values(features) < LEVEL).mean())

    @cached_property
    def _sorted(self) -> Reals:
        return np.sort(self.reference, 0)

    @cached_property
    def _simes(self) -> Reals:
        """(N,L) sorted, of the reference inputs, each against the others."""
        return np.sort(self._own, 0)

    @cached_property
    def _own(self) -> Reals:
        return simes(_two_sided(self._sorted, self.reference, own=True))

    @cached_property
    def _fisher(self) -> Reals:
        """(N,) sorted."""
        return np.sort(fisher(_at_most(self._simes, self._own) / (len(self.reference) + 1)))


def simes(p: Reals) -> Reals:
    """min_k D p_(k) / k over the last axis (Simes 1986): the p-value of "none of these is unusual"."""
    d = p.shape[-1]
    combined: Reals = (np.sort(p, -1) * d / np.arange(1, d + 1)).min(-1)
    return combined


def fisher(p: Reals) -> Reals:
    """-2 sum log p over the last axis (Fisher 1925): large if the p-values are jointly small."""
    statistic: Reals = -2 * np.log(p).sum(-1)
    return statistic


def _two_sided(known: Reals, values: Reals, *, own: bool) -> Reals:
    """min(1, 2 min(left, right)), from ranks of values (M,L,D) among known (N,L,D); `own`: values are known."""
    n = len(known)
    left = _at_most(known.reshape(n, -1), values.reshape(len(values), -1))
    right = n - _below(known.reshape(n, -1), values.reshape(len(values), -1))
    tail = np.minimum(left, right) + (not own)  # an input includes itself
    return np.minimum(1, 2 * tail / (n + 1)).reshape(values.shape)


def _at_most(known: Reals, values: Reals) -> Reals:
    """(M,K) the number of sorted known (N,K) <= each value."""
    return np.stack([np.searchsorted(k, v, "right") for k, v in zip(known.T, values.T, strict=True)], 1).astype(float)


def _below(known: Reals, values: Reals) -> Reals:
    """(M,K) the number of sorted known (N,K) < each value."""
    return np.stack([np.searchsorted(k, v, "left") for k, v in zip(known.T, values.T, strict=True)], 1).astype(float)
