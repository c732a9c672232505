"""Attention x gradient, generic attention explainability (Chefer et al. 2021)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import torch
from torch import Tensor

from assay.core.types import Scores
from assay.explainers.attention_matrices import read_rows
from assay.explainers.protocols import MethodFacts
from assay.models.encoding import Batch
from assay.models.model import Model
from assay.models.target import Targets


@dataclass
class _Probabilities:
    """A tap that records the probabilities of every layer, as part of the graph; those of the first are its leaf."""

    layers: list[Tensor] = field(default_factory=list)

    def probabilities(self, layer: int, probabilities: Tensor) -> Tensor:
        in_graph = probabilities if probabilities.requires_grad else probabilities.detach().requires_grad_()
        self.layers.append(in_graph)
        return in_graph

    def values(self, layer: int, values: Tensor) -> Tensor:
        return values


@dataclass(frozen=True)
class AttentionXGradient:
    """R <- R + mean_h(relu(dv/dA_h * A_h)) R from R = I, layer by layer; score = the row that the head reads.

    Class-dependent attention: only attention that raises the target's value counts.
    Weakness: positive evidence only; the residual path of each position counts as 1, before special tokens are dropped.
    """

    facts: ClassVar[MethodFacts] = MethodFacts(
        scale="logit", signed=False, complete=False, class_dependent=True, passes="1 f + 1 b", memory="L x H x T x T"
    )

    def attribute(self, model: Model, batch: Batch, targets: Targets) -> Scores:
        tap = _Probabilities()
        with torch.enable_grad():
            logits = model.tapped(batch, tap)
            gradients = torch.autograd.grad(targets.resolve(logits).values(logits).sum(), tap.layers)
        model.passes.backwards += len(batch)
        relevance = torch.eye(batch.ids.shape[1], device=logits.device).expand(len(batch), -1, -1)
        real = batch.mask.unsqueeze(-1).float()
        for probabilities, gradient in zip(tap.layers, gradients, strict=True):
            positive = (gradient * probabilities.detach()).clamp(min=0).mean(1).float()  # (B,T,T)
            relevance = relevance + (positive * real) @ relevance
        return Scores(read_rows(relevance, model, batch), logits=logits)
