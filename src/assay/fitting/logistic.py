"""Logistic regression on masked texts, for all texts at once: parts of the log-odds that add up.

LIME fits a linear model to the masks of one text. Here one attribution model gives the coefficients of every text. The
cross-entropy counts errors where the probability of the class changes, and hardly any where it is near 0 or 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import softplus

from assay.core.types import Scale
from assay.fitting.masks import MaskValues, Play
from assay.fitting.shapley import least_squares
from assay.fitting.texts import FitBatch

GAP = 0.004  # weight of the squared difference between the sum of the outputs and the log-odds they should add up to
LIMIT = 8.0  # log-odds beyond it, a probability of 0.0003, are as good as certain


@dataclass(frozen=True, eq=False)
class LogisticObjective:
    """mean over masks S of KL(p(S) || sigmoid(z(S))), z(S) = l(none) + sum of phi over S, l the log-odds of the class.

    phi is shifted so that z(all) = l(all), with a small multiple of the squared shift as a penalty. S has a size drawn
    uniformly and comes with its complement. For a regression, l is the output and the loss is squared.
    """

    values: MaskValues
    scale: Scale  # log_odds, or raw
    independent: bool
    spread: float  # of v(all) - v(none) in a regression; 1 for log-odds

    def loss(self, batch: FitBatch, outputs: Tensor, labels: Tensor) -> Tensor:
        """The loss of the explainer's outputs (B,T), in units of the spread, for the classes `labels` (B,)."""
        play = self.values.play(batch, outputs, labels, self.scale, independent=self.independent)
        if self.scale == "raw":
            return least_squares(play.scaled(self.spread)).mean()
        return cross_entropy(play.limited(LIMIT)).mean()


def cross_entropy(play: Play) -> Tensor:
    """(B,) the loss of each input; 0 where all sums equal the log-odds."""
    excess = bernoulli_divergence(play.values[:, 1:], play.sums)
    return excess.mean(1) * play.several + GAP * play.gap.square()


def bernoulli_divergence(truth: Tensor, guess: Tensor) -> Tensor:
    """KL(sigmoid(truth) || sigmoid(guess)); stable for log-odds of any size."""
    return softplus(guess) - softplus(truth) - truth.sigmoid() * (guess - truth)


def uniform_sizes(n: int) -> NDArray[np.float64]:
    """(n-1,) equal probabilities of the sizes 1..n-1."""
    return np.full(n - 1, 1 / (n - 1))
