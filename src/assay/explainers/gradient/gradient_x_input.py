"""Gradient x input (Shrikumar et al. 2016)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.core.types import Scale, Scores
from assay.explainers.gradient._length import need_length
from assay.models.encoding import Batch
from assay.models.model import Model
from assay.models.target import Targets


@dataclass(frozen=True)
class GradientXInput:
    """score_i = <dv/dx_i, x_i>, the dot product over the width of the word embedding.

    Weakness: compares with a zero embedding that no text has; may be no better than random; is 0 where the model
    normalises each embedding by itself (DeBERTa v2 and v3), and refuses those.
    """

    scale: ClassVar[Scale] = "logit"
    signed: ClassVar[bool] = True
    complete: ClassVar[bool] = False
    class_dependent: ClassVar[bool] = True
    passes: ClassVar[str] = "1 f + 1 b"
    memory: ClassVar[str] = "L x T x D"
    revision: ClassVar[int] = 1

    def attribute(self, model: Model, batch: Batch, targets: Targets) -> Scores:
        need_length(model)
        result = model.gradients(batch, targets, whole=True)
        return Scores((result.gradient * result.embeddings).sum(-1), logits=result.logits)
