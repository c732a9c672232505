"""Value-norm attention (Kobayashi et al. 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch

from assay.core.types import Scores
from assay.explainers.attention_matrices import query_mean, read_rows, rollout
from assay.explainers.decomposition._norms import lengths
from assay.explainers.decomposition._vectors import head_vectors
from assay.explainers.protocols import MethodFacts
from assay.models.encoding import Batch
from assay.models.model import Model
from assay.models.target import Targets


@dataclass(frozen=True)
class ValueNormAttention:
    """N[i,j] = |sum_h A^h_ij W_O^h (W_V^h x_j + b_V^h)|: attention weighted by the norm of the vectors it carries.

    aggregation: mean over blocks, or rollout, the product N_L ... N_1. row: mean over queries i, or the row that the
    head reads. Weakness: the same for every class; ignores residuals, norms and feed-forward layers.
    """

    aggregation: Literal["mean", "rollout"] = "mean"
    row: Literal["mean", "readout"] = "mean"
    facts: ClassVar[MethodFacts] = MethodFacts(
        scale="logit", signed=False, complete=False, class_dependent=False, passes="1 f", memory="H x T x T"
    )

    def attribute(self, model: Model, batch: Batch, targets: Targets) -> Scores:
        trace = model.trace(batch)
        real = trace.mask.unsqueeze(-1)
        layers = []
        with torch.no_grad():
            for block in trace.blocks:
                brought = head_vectors(block.attention, block.inputs)
                layers.append(lengths(block.attention.probabilities, brought) * real)
        matrix = rollout(layers) if self.aggregation == "rollout" else torch.stack(layers).mean(0)
        scores = query_mean(matrix, batch) if self.row == "mean" else read_rows(matrix, model, batch)
        return Scores(scores, logits=trace.logits)
