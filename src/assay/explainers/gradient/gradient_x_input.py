"""Gradient x input (Shrikumar et al. 2016)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.core.types import Scores
from assay.explainers.gradient._length import need_length
from assay.explainers.protocols import MethodFacts
from assay.models.encoding import Batch
from assay.models.model import Model
from assay.models.target import Targets


@dataclass(frozen=True)
class GradientXInput:
    """score_i = <dv/dx_i, x_i>, the dot product over the width of the word embedding.

    Weakness: compares with a zero embedding, which no text has; may be no better than random; not available where the
    model normalises each embedding by itself (DeBERTa v2 and v3), because the product is then 0.
    """

    facts: ClassVar[MethodFacts] = MethodFacts(
        scale="logit", signed=True, complete=False, class_dependent=True, passes="1 f + 1 b", memory="L x T x D"
    )

    def attribute(self, model: Model, batch: Batch, targets: Targets) -> Scores:
        need_length(model)
        result = model.gradients(batch, targets, whole=True)
        return Scores((result.gradient * result.embeddings).sum(-1), logits=result.logits)
