"""MaSF: is an input, masked as it is, one that the model knows? (Heller et al. 2022; Madsen et al. 2024)."""

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
    """p-values of new inputs against `reference` (N,L,D): the highest activation over words, per layer and dimension.

    Per dimension the two-sided empirical p-value; Simes over dimensions, its empirical p-value; Fisher over layers, its
    empirical p-value. If new inputs are like the reference's, p is uniform: 5 % are below 0.05. Only ranks matter, so
    that any rising transformation of an activation changes nothing. The reference and new inputs are ranked alike, each
    counting itself, so that ties stay ties. Weakness: with N inputs to compare with, no p is below 1/(N+1).
    """

    reference: Reals

    def __post_init__(self) -> None:
        if self.reference.ndim != 3 or len(self.reference) < 2:
            raise InputError(f"a reference of shape {self.reference.shape}: give (N,L,D) with N of at least 2")

    def p_values(self, features: Reals) -> Reals:
        """(M,) of new inputs (M,L,D)."""
        n = len(self.reference)
        unusual = simes(_two_sided(self._sorted, features, own=False))  # (M,L)
        layers = (_at_most(self._simes, unusual) + 1) / (n + 1)
        found: Reals = (n - _below(self._fisher[:, None], fisher(layers)[:, None])[:, 0] + 1) / (n + 1)
        return found

    def outside(self, features: Reals) -> float:
        """The share of inputs that the model does not know, at a level of 5 %: about 5 % if all is well."""
        return float((self.p_values(features) < LEVEL).mean())

    @cached_property
    def _sorted(self) -> Reals:
        return np.sort(self.reference, 0)

    @cached_property
    def _simes(self) -> Reals:
        """(N,L) sorted, of the reference itself, each against the others."""
        return np.sort(self._own, 0)

    @cached_property
    def _own(self) -> Reals:
        return simes(_two_sided(self._sorted, self.reference, own=True))

    @cached_property
    def _fisher(self) -> Reals:
        """(N,) sorted."""
        return np.sort(fisher(_at_most(self._simes, self._own) / (len(self.reference) + 1)))


def simes(p: Reals) -> Reals:
    """min_k D p_(k) / k over the last axis (Simes 1986): a p-value of "none of these is unusual"."""
    d = p.shape[-1]
    found: Reals = (np.sort(p, -1) * d / np.arange(1, d + 1)).min(-1)
    return found


def fisher(p: Reals) -> Reals:
    """-2 sum log p over the last axis (Fisher 1925): large if p-values are small together."""
    found: Reals = -2 * np.log(p).sum(-1)
    return found


def _two_sided(known: Reals, values: Reals, *, own: bool) -> Reals:
    """min(1, 2 min(left, right)), the ranks of values (M,L,D) among known (N,L,D); `own`: they are among the known."""
    n = len(known)
    left = _at_most(known.reshape(n, -1), values.reshape(len(values), -1))
    right = n - _below(known.reshape(n, -1), values.reshape(len(values), -1))
    tail = np.minimum(left, right) + (not own)  # an input counts itself
    return np.minimum(1, 2 * tail / (n + 1)).reshape(values.shape)


def _at_most(known: Reals, values: Reals) -> Reals:
    """(M,K) how many of the sorted known (N,K) are <= each value."""
    return np.stack([np.searchsorted(k, v, "right") for k, v in zip(known.T, values.T, strict=True)], 1).astype(float)


def _below(known: Reals, values: Reals) -> Reals:
    """(M,K) how many of the sorted known (N,K) are < each value."""
    return np.stack([np.searchsorted(k, v, "left") for k, v in zip(known.T, values.T, strict=True)], 1).astype(float)
