"""Gradient (Simonyan et al. 2014)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from assay.core.types import Scores
from assay.explainers.protocols import MethodFacts
from assay.models import hooks
from assay.models.encoding import Batch
from assay.models.model import Model
from assay.models.target import Targets


@dataclass(frozen=True)
class Gradient:
    """g_i = dv/dx_i at the word embedding x_i, reduced to ||g_i||_2 (l2), sum_d g_id (sum, signed) or ||E g_i||_2.

    The last (vocabulary) is the norm of the gradient with respect to the one-hot input (ROAR; Madsen et al. 2022).
    Weakness: local; where the output saturates, gradients vanish even for important words. `sum` is 0 up to rounding
    wherever every reader of the embedding is a LayerNorm (BERT, GPT-2, ViT, ...; not Llama or T5), because
    LayerNorm(x + c) = LayerNorm(x): there it ranks tokens by noise.
    """

    reduction: Literal["l2", "sum", "vocabulary"] = "l2"

    @property
    def facts(self) -> MethodFacts:
        return MethodFacts(
            scale="logit",
            signed=self.reduction == "sum",
            complete=False,
            class_dependent=True,
            passes="1 f + 1 b",
            memory="L x T x D",
        )

    def attribute(self, model: Model, batch: Batch, targets: Targets) -> Scores:
        gradient, _, _, logits = model.gradients(batch, targets, whole=True)
        if self.reduction == "vocabulary":
            gradient = gradient @ _root(hooks.word_table(model.hf, model.family)).to(gradient)
        return Scores(gradient.sum(-1) if self.reduction == "sum" else gradient, logits=logits)


_ROOTS = WeakTensorKeyDictionary()  # by word table, while it exists: all batches share one root


def _root(table: Tensor) -> Tensor:
    """(D,D) a symmetric R with R R = E'E, so that ||R g|| = ||E g|| for every g, without tensors of width V."""
    state = table._version, table.detach().sum().item()  # the version misses changes through .data, the sum does not
    cached = _ROOTS.get(table)
    if cached is None or cached[0] != state:
        cached = _ROOTS[table] = state, _computed_root(table)
    root: Tensor = cached[1]
    return root


def _computed_root(table: Tensor) -> Tensor:
    wide = table.detach().double()
    values, vectors = torch.linalg.eigh(wide.T @ wide)
    root: Tensor = vectors * values.clamp(min=0).sqrt() @ vectors.T
    return root
