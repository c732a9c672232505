"""SmoothGrad (Smilkov et al. 2017)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from assay.core.types import Scores
from assay.explainers.gradient._length import need_length
from assay.explainers.gradient._points import each, summed_gradients
from assay.explainers.protocols import MethodFacts
from assay.models.encoding import Batch
from assay.models.model import Model
from assay.models.target import Targets


@dataclass(frozen=True)
class SmoothGrad:
    """Mean gradient over `samples` inputs with Gaussian noise of `noise` x (max - min) of the input's embeddings.

    Reductions: l2, sum (signed), x_input (signed, dot product with the original embedding).
    Weakness: noisy embeddings belong to no word; results depend on the noise level.
    """

    samples: int = 32
    noise: float = 0.05
    reduction: Literal["l2", "sum", "x_input"] = "l2"
    seed: int = 0

    def __post_init__(self) -> None:
        if self.samples < 1 or self.noise < 0:
            raise ValueError("samples must be at least 1 and noise at least 0")

    @property
    def facts(self) -> MethodFacts:
        return MethodFacts(
            scale="logit",
            signed=self.reduction != "l2",
            complete=False,
            class_dependent=True,
            passes="1 f + samples (f + b)",
            memory="L x T x D per sample run at once",
        )

    @property
    def rows(self) -> int:
        return self.samples

    def attribute(self, model: Model, batch: Batch, targets: Targets) -> Scores:
        if self.reduction == "x_input":
            need_length(model)
        logits = model.full_logits(batch)
        embeddings = model.embeddings(batch)
        spread = _spread(embeddings, batch)

        def noisy(owner: Tensor, row: Tensor) -> Tensor:
            pairs = zip(owner.tolist(), row.tolist(), strict=True)
            noise = torch.stack([_noise(batch, i, r % self.samples, embeddings) for i, r in pairs])
            return embeddings[owner] + self.noise * spread[owner].view(-1, 1, 1) * noise

        weight = embeddings.new_full((len(batch) * self.samples,), 1 / self.samples)
        mean = summed_gradients(model, batch, targets.resolve(logits), each(batch, self.samples), weight, noisy)
        if self.reduction == "x_input":
            mean = mean * embeddings
        return Scores(mean if self.reduction == "l2" else mean.sum(-1), logits=logits)


def _spread(embeddings: Tensor, batch: Batch) -> Tensor:
    """(B,) largest minus smallest entry over the positions of units."""
    playing = batch.playing.unsqueeze(-1)
    high = embeddings.masked_fill(~playing, -torch.inf).amax((1, 2))
    return high - embeddings.masked_fill(~playing, torch.inf).amin((1, 2))


def _noise(batch: Batch, i: int, sample: int, like: Tensor) -> Tensor:
    """(T,D) noise of one sample of one input: drawn on its own positions, so that padding and order have no effect."""
    rng = np.random.default_rng((batch.seeds[i], sample))
    used = batch.playing[i].nonzero().squeeze(-1)
    draw = torch.from_numpy(rng.standard_normal((len(used), like.shape[-1]), dtype=np.float32))
    return like.new_zeros(like.shape[1:]).index_copy(0, used, draw.to(like))
