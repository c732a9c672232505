"""Gradient (Simonyan et al. 2014)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from assay.explainers.protocols import MethodFacts
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

    def attribute(self, model: Model, batch: Batch, targets: Targets) -> Tensor:
        gradient = model.gradients(batch, targets, settle=True).gradient
        if self.reduction == "vocabulary":
            return gradient @ _root(hooks.word_table(model.hf, model.family)).to(gradient)
        return gradient if self.reduction == "l2" else gradient.sum(-1)


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
