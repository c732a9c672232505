"""The objective of FastSHAP (Jethani et al. 2022): outputs that are Shapley values, learnt without computing any.

Shapley values solve the weighted least-squares problem of KernelSHAP. Averaged over inputs, the same loss is minimised
by a model whose outputs are the Shapley values of every input. Its masks need forward passes only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from assay.core.types import Scale
from assay.fitting.masks import MaskValues, Play
from assay.fitting.texts import FitBatch

GAP = 0.1  # weight of the squared difference between the sum of the outputs and v(all) - v(none)


@dataclass(frozen=True, eq=False)
class ShapleyObjective:
    """mean over masks S of (v(S) - v(none) - sum of phi over S)^2 / spread^2, S drawn from the Shapley kernel in pairs
    with its complement, phi shifted so that it sums to v(all) - v(none), plus a small multiple of the squared shift."""

    values: MaskValues
    scale: Scale
    independent: bool
    spread: float  # of v(all) - v(none)

    def loss(self, batch: FitBatch, outputs: Tensor, labels: Tensor) -> Tensor:
        """The loss of the explainer's outputs (B,T), in units of the spread, for the classes `labels` (B,)."""
        play = self.values.play(batch, outputs, labels, self.scale, independent=self.independent)
        return least_squares(play.scaled(self.spread)).mean()


def least_squares(play: Play) -> Tensor:
    """(B,) the loss of each input. Texts of one unit have no masks: only their sum counts."""
    error = play.values[:, 1:] - play.sums
    return error.square().mean(1) * play.several + GAP * play.gap.square()


def kernel_sizes(n: int) -> NDArray[np.float64]:
    """(n-1,) probabilities of the sizes 1..n-1: the Shapley kernel, summed over all sets of a size."""
    size = np.arange(1, n)
    weight = 1 / (size * (n - size))
    out: NDArray[np.float64] = weight / weight.sum()
    return out
