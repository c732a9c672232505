"""Attention rollout (Abnar & Zuidema 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch

from assay.core.types import Scores
from assay.explainers.attention_matrices import head_means, query_mean, read_rows, rollout
from assay.explainers.protocols import MethodFacts
from assay.models.encoding import Batch
from assay.models.model import Model
from assay.models.target import Targets


@dataclass(frozen=True)
class AttentionRollout:
    """R = A_L ... A_2 A_1 of head-averaged attention; score_i = mean_j R[j,i], or the row that the head reads.

    `residual=True` adds the skip connection, (A + I) / 2, as Abnar & Zuidema do; `residual=False` is the formula of the
    thesis. Weakness: the same for every class; ignores values, norms and feed-forward layers.
    """

    residual: bool = True
    row: Literal["mean", "readout"] = "mean"
    facts: ClassVar[MethodFacts] = MethodFacts(
        scale="logit", signed=False, complete=False, class_dependent=False, passes="1 f", memory="L x T x T + H x T x T"
    )

    def attribute(self, model: Model, batch: Batch, targets: Targets) -> Scores:
        layers, logits = head_means(model, batch)
        if self.residual:
            layers = [(layer + torch.eye(layer.shape[-1], device=layer.device)) / 2 for layer in layers]
        product = rollout(layers)
        scores = query_mean(product, batch) if self.row == "mean" else read_rows(product, model, batch)
        return Scores(scores, logits=logits)
