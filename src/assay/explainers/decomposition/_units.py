"""A feed-forward layer as a map of decomposed vectors."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn.functional import linear

from assay.explainers.decomposition._sharing import BiasRule, share
from assay.models.trace import Affine, FeedForward, Gate, Linearised, Select, Slope


@dataclass(frozen=True)
class Units:
    """x_ij -> W_2 (slope_i * (W_1 x_ij + b_1)) + b_2, biases divided; one per layer, applied to selected rows."""

    hidden: Linearised  # slopes and offset (R,F)
    output: Affine
    bias_rule: BiasRule | None
    short: ShortBias | None

    @staticmethod
    def of(layer: FeedForward, bias_rule: BiasRule | None, slope: Slope, gate: Gate = "up") -> Units:
        hidden = layer.linearised(slope, gate)
        return Units(hidden, layer.output, bias_rule, ShortBias.of(hidden, layer.output, bias_rule))

    def at(self, select: Select) -> Units:
        return replace(self, hidden=self.hidden.at(select), short=None if self.short is None else self.short.at(select))

    def __call__(self, vectors: Tensor) -> Tensor:
        """(R,J,D) -> (R,J,D)"""
        if self.short is None:
            out = project(self._hidden(vectors), self.output.weight)
        else:
            out = self.short.add(self._linear(vectors), vectors)
        return share(out, self.output.bias, self.bias_rule)

    def _hidden(self, vectors: Tensor) -> Tensor:
        """(R,J,F) with all biases, for every bias rule."""
        first, *others = (
            share(project(vectors, affine.weight), affine.bias, self.bias_rule).mul_(slope.unsqueeze(1))
            for affine, slope in self.hidden.branches
        )
        for other in others:
            first.add_(other)
        return share(first, self.hidden.offset, self.bias_rule)

    def _linear(self, vectors: Tensor) -> Tensor:
        """W_2 (slope_i * W_1 x_ij). With many sources, computing W_2 diag(slope_i) W_1 first takes fewer products."""
        ((affine, slope),) = self.hidden.branches
        if not maps_pay(vectors.shape[1], *affine.weight.shape):
            return project(project(vectors, affine.weight).mul_(slope.unsqueeze(1)), self.output.weight)
        maps = project(slope.unsqueeze(1) * self.output.weight, affine.weight.T)  # (R,D,D)
        return vectors @ maps.transpose(1, 2)


@dataclass(frozen=True)
class ShortBias:
    """The bias of hidden units, divided without computing hidden vectors, for bias rules that do not need them.

    |<W_1 x_ij, b_1>| = |<x_ij, W_1' b_1>|, and w_ij slope_i * b_1 leaves the output layer as w_ij times one vector.
    """

    bias_rule: BiasRule | None
    seen: Tensor | None  # (D,) W_1' b_1
    brought: Tensor | None  # (R,D) W_2 (slope_i * b_1)

    @staticmethod
    def of(hidden: Linearised, output: Affine, bias_rule: BiasRule | None) -> ShortBias | None:
        if len(hidden.branches) > 1 or hidden.offset is not None:
            return None
        ((affine, slope),) = hidden.branches
        if affine.bias is None:
            return ShortBias(bias_rule, None, None)
        if bias_rule in ("abssim", "norm", "equal"):
            return None
        return ShortBias(bias_rule, affine.bias @ affine.weight, linear(slope * affine.bias, output.weight))

    def at(self, select: Select) -> ShortBias:
        return self if self.brought is None else replace(self, brought=select(self.brought))

    def add(self, out: Tensor, vectors: Tensor) -> Tensor:
        like = vectors @ self.seen if self.seen is not None and self.bias_rule == "absdot" else None
        return share(out, self.brought, self.bias_rule, like)


def maps_pay(sources: int, units: int, width: int) -> bool:
    """J F D + J F D multiplications against D F D + J D D: with four units per width, from 4/7 D sources on."""
    return sources * (2 * units - width) > units * width


def project(vectors: Tensor, weight: Tensor) -> Tensor:
    """W X_ij, as one matrix product (a product of three dimensions may become a batch of small ones)."""
    return torch.mm(vectors.flatten(0, 1), weight.T).view(*vectors.shape[:2], -1)
