"""The objective of FastSHAP (Jethani et al. 2022): outputs that are Shapley values, learnt without computing any.

Shapley values solve the weighted least-squares problem of KernelSHAP. Averaged over inputs, the same loss is minimised
by a model whose outputs are the Shapley values of every input. Its masks need forward passes only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from assay.core.types import Bools
from assay.fitting.texts import FitBatch
from assay.masking.game import Game
from assay.masking.removal import Removal
from assay.masking.units import unit_scores
from assay.models.target import scaled


@dataclass(frozen=True)
class ShapleyObjective:
    """mean over masks S of (v(S) - v(none) - sum of phi over S)^2, S drawn from the Shapley kernel in pairs with its
    complement, phi shifted so that it sums to v(all) - v(none)."""

    removal: Removal
    masks: int = 8
    budget: int = 1 << 14

    def loss(self, batch: FitBatch, outputs: Tensor, labels: Tensor, rng: np.random.Generator) -> Tensor:
        """The loss of the explainer's outputs (B,T) for the classes `labels` (B,)."""
        model, sizes = batch.model, [e.players for e in batch.encodings]
        game = Game(model, batch.encodings, self.removal, self.budget)
        keeps = [np.vstack([np.zeros((1, n), bool), kernel_masks(n, self.masks, rng)]) for n in sizes]
        answers = game.outputs(list(enumerate(keeps)))
        assert batch.batch.unit_of is not None
        phi = unit_scores(outputs, batch.batch.unit_of, max(sizes))  # (B,U)
        losses = []
        for i, (keep, answer, n) in enumerate(zip(keeps, answers, sizes, strict=True)):
            values = _values(model, torch.from_numpy(np.asarray(answer)).to(outputs), labels[i])
            full = _values(model, batch.outputs[i : i + 1].to(outputs), labels[i])[0]
            losses.append(_squared_error(phi[i, :n], torch.from_numpy(keep[1:]).to(outputs), values, full))
        return torch.stack(losses).mean()


def _squared_error(phi: Tensor, keep: Tensor, values: Tensor, full: Tensor) -> Tensor:
    if not len(keep):
        return phi.sum() * 0  # one unit has the whole value
    empty = values[0]
    shifted = phi + (full - empty - phi.sum()) / len(phi)
    return (values[1:] - empty - keep @ shifted).square().mean()


def _values(model: object, logits: Tensor, label: Tensor) -> Tensor:
    """(M,) probabilities of a class, or the output of a regression."""
    task = getattr(model, "task", "")
    if task == "regression":
        return logits[:, 0]
    return scaled(logits, "probability", independent=task == "multi_label")[:, int(label)]


def kernel_masks(n: int, masks: int, rng: np.random.Generator) -> Bools:
    """(masks,n) sets of 1..n-1 units, sizes with weight 1 / (s (n - s)), each followed by its complement."""
    if n == 1:
        return np.zeros((0, 1), bool)
    sizes = rng.choice(np.arange(1, n), size=masks // 2, p=kernel_sizes(n))
    rank = rng.random((masks // 2, n)).argsort(1).argsort(1)
    half = rank < sizes[:, None]
    return np.stack([half, ~half], 1).reshape(-1, n)


def kernel_sizes(n: int) -> NDArray[np.float64]:
    """(n-1,) probabilities of the sizes 1..n-1: the Shapley kernel, summed over all sets of a size."""
    size = np.arange(1, n)
    weight = 1 / (size * (n - size))
    out: NDArray[np.float64] = weight / weight.sum()
    return out
