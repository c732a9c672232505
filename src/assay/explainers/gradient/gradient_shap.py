"""GradientSHAP, expected gradients (Lundberg & Lee 2017; Erion et al. 2021)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from assay.core.types import Scores
from assay.explainers.gradient._baseline import baseline_embeddings
from assay.explainers.gradient._points import each, summed_gradients
from assay.explainers.protocols import MethodFacts
from assay.models.encoding import Batch
from assay.models.model import Model
from assay.models.target import Targets


@dataclass(frozen=True)
class GradientShap:
    """Mean of (x - r) . dv/dx at `samples` points r + a (x - r), a random in [0, 1].

    The points are stratified, one in each of `samples` equal parts of [0, 1]: unbiased like independent points, but
    far less noisy. There is a single reference r, the baseline, so this is integrated gradients at random points.
    Weakness: sums to v(x) - v(r) only on average.
    """

    samples: int = 32
    baseline: str | None = None
    seed: int = 0
    facts: ClassVar[MethodFacts] = MethodFacts(
        scale="logit",
        signed=True,
        complete=False,
        class_dependent=True,
        passes="1 f + samples (f + b)",
        memory="L x T x D per sample run at once",
    )

    def __post_init__(self) -> None:
        if self.samples < 1:
            raise ValueError("samples must be at least 1")

    @property
    def rows(self) -> int:
        return self.samples

    def attribute(self, model: Model, batch: Batch, targets: Targets) -> Scores:
        logits = model.full_logits(batch)
        embeddings = model.embeddings(batch)
        reference = baseline_embeddings(model, batch, self.baseline)
        strata = np.arange(self.samples)
        draws = [(strata + np.random.default_rng(seed).random(self.samples)) / self.samples for seed in batch.seeds]
        alpha = torch.from_numpy(np.concatenate(draws)).to(embeddings)

        def between(owner: Tensor, row: Tensor) -> Tensor:
            return reference[owner].lerp(embeddings[owner], alpha[row].view(-1, 1, 1))

        weight = torch.full_like(alpha, 1 / self.samples)
        mean = summed_gradients(model, batch, targets.resolve(logits), each(batch, self.samples), weight, between)
        return Scores((mean * (embeddings - reference)).sum(-1), logits=logits)
