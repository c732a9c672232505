"""Gradient (Simonyan et al. 2014)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from assay.core.types import Scale, Scores
from assay.models import hooks
from assay.models.encoding import Batch
from assay.models.model import Model
from assay.models.target import Targets


@dataclass(frozen=True)
class Gradient:
    """g_i = dv/dx_i at the word embedding x_i, as ||g_i||_2 (how much) or sum_d g_id (signed, as in the thesis).

    vocabulary: ||E g_i||_2, the norm of the gradient with respect to the one-hot input (ROAR; Madsen et al. 2022).
    Weakness: local; where the output saturates, the gradient of what matters vanishes. The signed sum is 0 but for
    rounding wherever every reader of the embedding is a LayerNorm (BERT, GPT-2, ViT, ...; not Llama or T5), because
    LayerNorm(x + c) = LayerNorm(x): there `sum` ranks tokens by noise.
    """

    reduction: Literal["l2", "sum", "vocabulary"] = "l2"
    scale: ClassVar[Scale] = "logit"
    signed: ClassVar[bool] = False
    complete: ClassVar[bool] = False
    class_dependent: ClassVar[bool] = True
    passes: ClassVar[str] = "1 f + 1 b"
    memory: ClassVar[str] = "L x T x D"
    revision: ClassVar[int] = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "signed", self.reduction == "sum")  # the class speaks for its default

    def attribute(self, model: Model, batch: Batch, targets: Targets) -> Scores:
        gradient, _, _, logits = model.gradients(batch, targets, whole=True)
        if self.reduction == "vocabulary":
            gradient = gradient @ _root(hooks.word_table(model.hf, model.family)).to(gradient)
        return Scores(gradient.sum(-1) if self.reduction == "sum" else gradient, logits=logits)


_ROOTS = WeakTensorKeyDictionary()  # by word table, for as long as it lives: one root serves all batches


def _root(table: Tensor) -> Tensor:
    """(D,D) a symmetric R with R R = E'E, so that ||R g|| = ||E g|| for every g: nothing is ever V wide."""
    state = table._version, table.detach().sum().item()  # the sum sees changes through .data, the version does not
    known = _ROOTS.get(table)
    if known is None or known[0] != state:
        known = _ROOTS[table] = state, _computed_root(table)
    root: Tensor = known[1]
    return root


def _computed_root(table: Tensor) -> Tensor:
    wide = table.detach().double()
    values, vectors = torch.linalg.eigh(wide.T @ wide)
    root: Tensor = vectors * values.clamp(min=0).sqrt() @ vectors.T
    return root
