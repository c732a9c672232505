"""Integrated gradients as the published ROAR code computes them: each gradient weighted by its place on the path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from assay.core.types import Scores
from assay.explainers.gradient._baseline import baseline_embeddings
from assay.explainers.gradient._length import need_length
from assay.explainers.gradient._quadrature import quadrature
from assay.explainers.gradient.integrated_gradients import EmbeddingPath
from assay.explainers.protocols import MethodFacts
from assay.models.encoding import Batch
from assay.models.model import Model
from assay.models.target import Targets


@dataclass(frozen=True)
class WeightedIntegratedGradients:
    """score_i = <x_i - r_i, 1/k sum_j (j/k) dv/dx_i (r + j/k (x - r))>, j = 1..k; r = 0 (Madsen et al. 2022, code).

    The code differentiates with respect to the embedding before it is scaled, so that every term has one more factor
    j/k than the paper's formula. Rules other than right, the code's, approximate the limit of the sum,
    integral_0^1 a dv/dx_i (r + a (x - r)) da, with fewer points. Special tokens are never scaled; the code scaled those
    of single texts.
    Weakness: not complete, for a linear model the scores sum to (k+1)/2k of v(x) - v(r); use it only to reproduce
    published numbers, and integrated_gradients otherwise.
    """

    steps: int = 50
    baseline: str | None = "zero"
    rule: Literal["right", "gauss_legendre", "left", "middle"] = "right"
    facts: ClassVar[MethodFacts] = MethodFacts(
        scale="logit",
        signed=True,
        complete=False,
        class_dependent=True,
        passes="1 f + steps (f + b)",
        memory="L x T x D per step run at once",
    )

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise ValueError("steps must be at least 1")

    @property
    def rows(self) -> int:
        return self.steps

    def attribute(self, model: Model, batch: Batch, targets: Targets) -> Scores:
        if self.baseline == "zero":
            need_length(model)
        path = EmbeddingPath.between(model, batch, targets, baseline_embeddings(model, batch, self.baseline))
        nodes, weights = (np.tile(a, (len(batch), 1)) for a in quadrature(self.rule, self.steps))
        return Scores(path.integral(nodes, nodes * weights), logits=path.logits)
