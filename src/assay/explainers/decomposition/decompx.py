"""DecompX (Modarressi et al. 2023)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import pad

from assay.core.types import Scores
from assay.explainers.decomposition._sharing import BiasRule
from assay.explainers.decomposition._vectors import DecompositionSettings, class_vectors
from assay.explainers.protocols import MethodFacts
from assay.models.encoding import Batch
from assay.models.model import Model
from assay.models.target import Targets
from assay.models.trace import Gate, Slope, Trace, replay

FLOATS = 1 << 26  # of decomposed states in memory at once, unless one input needs more


@dataclass(frozen=True)
class Decompx:
    """Each hidden state is a sum of vectors, one per input position, propagated through the network and its head.

    X_ij <- X_ij + sum_h sum_k A^h_ik W_O^h W_V^h X_kj, then norms and activations by their factors in the real pass,
    then the head: C_j, one number per class. The score is C_j of the target; over all positions, including special
    tokens, they sum to the logit. On another scale the scores are multiplied by the slope of the scale at the logits.

    bias: how a bias b is divided among the sources j of a position. absdot by |<X_ij, b>|, abssim by |cos|, norm by
    |X_ij|, equal among all that are not 0, cls all to the first position; bias_token keeps biases apart, so that one
    backward pass through the frozen network gives the scores. activation: zero_origin (slope act(u) / u) or tangent
    (slope act'(u), the rest divided like a bias). gate: the factor of a gated unit that carries the vectors, "up" (the
    gate is held constant), "gate", or "half" of each.

    Weakness: attention, norms and slopes are held constant, so it shows what flowed, not what would flow without a
    word. All settings of bias but bias_token carry T x T vectors: 128 tokens cost about as much as sixty forward passes
    (docs/speed_decompx.md).
    """

    bias: BiasRule = "absdot"
    activation: Slope = "zero_origin"
    gate: Gate = "up"
    facts: ClassVar[MethodFacts] = MethodFacts(
        scale="logit",
        signed=True,
        complete=False,  # scores sum to the value itself, and special positions hold a part of it
        class_dependent=True,
        passes="1 f + T x T vectors; bias_token: 1 f + 1 b",
        memory="T x T x D; bias_token: that of a gradient",
    )

    def attribute(self, model: Model, batch: Batch, targets: Targets) -> Scores:
        trace = model.trace(batch)
        weights = class_weights(trace.logits, targets)
        if self.bias == "bias_token":
            scores = self._by_gradient(trace, weights)
            model.passes.backwards += len(batch)
        else:
            scores = self._by_vectors(trace, weights)
        return Scores(scores, _remainder(scores, trace, weights, batch), trace.logits)

    def _by_vectors(self, trace: Trace, weights: Tensor) -> Tensor:
        settings = DecompositionSettings(self.bias, self.activation, self.gate)
        scores, start = [], 0
        with torch.no_grad():
            for part in trace.parts(FLOATS // trace.outputs.shape[-1]):
                slopes = weights[start : start + len(part.mask)].unsqueeze(-1)
                summed = class_vectors(part, settings) @ slopes  # (B,J,1)
                scores.append(pad(summed.squeeze(-1), (0, trace.mask.shape[1] - summed.shape[1])))
                start += len(part.mask)
        return torch.cat(scores)

    def _by_gradient(self, trace: Trace, weights: Tensor) -> Tensor:
        """Apart from biases the frozen network is linear in its first hidden states: <h_j, gradient_j>."""
        with torch.enable_grad():
            hidden = trace.blocks[0].inputs.detach().requires_grad_()
            logits = replay(trace, hidden, self.activation, self.gate)
            (gradient,) = torch.autograd.grad((logits * weights).sum(), hidden)
        return (hidden.detach() * gradient).sum(-1)


def class_weights(logits: Tensor, targets: Targets) -> Tensor:
    """(B,C) the slope of each value at the logits: 1 at the target's class on the scale of logits."""
    with torch.enable_grad():
        leaf = logits.detach().requires_grad_()
        (slope,) = torch.autograd.grad(targets.resolve(logits).values(leaf).sum(), leaf)
    return slope


def _remainder(scores: Tensor, trace: Trace, weights: Tensor, batch: Batch) -> dict[str, list[float]]:
    """What is not attributed to units: the part of special positions, and of biases where they are kept apart."""
    biases = (trace.logits * weights).sum(-1) - scores.sum(-1)
    if batch.unit_of is None:
        return {"biases": biases.tolist()}
    return {"special": (scores * ~batch.playing).sum(-1).tolist(), "biases": biases.tolist()}
