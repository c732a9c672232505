"""Attention logits averaged over heads and queries (Fernandes et al. 2022)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from assay.core.errors import SpecError
from assay.core.types import Scores
from assay.explainers.protocols import MethodFacts
from assay.models.encoding import Batch
from assay.models.head_weights import explanation
from assay.models.model import Model
from assay.models.target import Targets


@dataclass(frozen=True)
class AttentionLogits:
    """score = softmax over tokens t of the mean over heads and queries j of the scaled logit q_j · k_t before the mask.

    `layer` and `head` choose one layer or one head; layer=-1 is the last. Causal models: the mean over the queries that
    may attend to t. Special tokens take part in the softmax. Weakness: the same for every class; ignores values.
    """

    layer: int | None = None
    head: int | None = None
    facts: ClassVar[MethodFacts] = MethodFacts(
        scale="logit", signed=False, complete=False, class_dependent=False, passes="1 f", memory="L x H x T"
    )

    def __post_init__(self) -> None:
        if self.head is not None and self.layer is None:
            raise SpecError(f"attention_logits: head={self.head} of which layer? Give layer, too")

    def attribute(self, model: Model, batch: Batch, targets: Targets) -> Scores:
        with torch.no_grad():
            logits, heads = model.head_logits(batch)
        chosen = self.chosen(heads.shape[1], model.n_blocks).to(heads)
        return Scores(explanation(heads, chosen, batch.mask), logits=logits)

    def chosen(self, heads: int, layers: int) -> Tensor:
        """(H,) equal weights of the chosen heads among all, layer by layer."""
        grid = torch.zeros(layers, heads // layers)
        rows = slice(None) if self.layer is None else _place("layer", self.layer, layers)
        columns = slice(None) if self.head is None else _place("head", self.head, heads // layers)
        grid[rows, columns] = 1.0
        return (grid / grid.sum()).flatten()


def _place(name: str, index: int, count: int) -> int:
    if not -count <= index < count:
        raise SpecError(f"attention_logits: {name}={index}, but the model has {count}; give 0 to {count - 1}, or -1")
    return index % count
