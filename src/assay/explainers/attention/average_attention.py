"""Average attention."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from assay.core.types import Scores
from assay.explainers.attention_matrices import head_means, query_mean
from assay.explainers.protocols import MethodFacts
from assay.models.encoding import Batch
from assay.models.model import Model
from assay.models.target import Targets


@dataclass(frozen=True)
class AverageAttention:
    """score_i = mean over layers, heads and queries j of A[l,h,j,i], the attention paid to position i.

    Weakness: the same for every class; a causal model attends most to early positions, whatever they contain.
    """

    facts: ClassVar[MethodFacts] = MethodFacts(
        scale="logit", signed=False, complete=False, class_dependent=False, passes="1 f", memory="L x T x T + H x T x T"
    )

    def attribute(self, model: Model, batch: Batch, targets: Targets) -> Scores:
        layers, logits = head_means(model, batch)
        return Scores(query_mean(torch.stack(layers).mean(0), batch), logits=logits)
