"""ALTI, aggregation of layer-wise token-to-token interactions (Ferrando et al. 2022)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor

from assay.core.types import Scores
from assay.explainers.attention_matrices import read_rows, rollout
from assay.explainers.decomposition._vectors import add_own, head_vectors, slices, weighted
from assay.explainers.decomposition.globenc import unscaled
from assay.explainers.protocols import MethodFacts
from assay.models.encoding import Batch
from assay.models.model import Model
from assay.models.target import Targets
from assay.models.trace import Block

VECTORS = 1 << 13  # computed at once


@dataclass(frozen=True)
class Alti:
    """C[i,j] = max(0, |y_i| - |y_i - T_ij|), rows normalised to sum to 1; score = a row of C_L ... C_1.

    y_i is the output of attention with residual (and norm, in a post-norm block), T_ij the part of it from position j:
    T_ij = n(sum_h A^h_ij W_O^h (W_V^h x_j + b_V^h) + [i = j] x_i). Lengths are l1 (default) or l2. A row of zeros is
    attributed to its own position; the score is the row that the head reads.
    Weakness: the same for every class, never negative; ignores the feed-forward layers.
    """

    distance: Literal["l1", "l2"] = "l1"
    facts: ClassVar[MethodFacts] = MethodFacts(
        scale="logit",
        signed=False,
        complete=False,
        class_dependent=False,
        passes="1 f + T x T vectors",
        memory="T x T x D, in chunks of rows",
    )

    def attribute(self, model: Model, batch: Batch, targets: Targets) -> Scores:
        trace = model.trace(batch)
        with torch.no_grad():
            layers = [contributions(block, 1 if self.distance == "l1" else 2) for block in trace.blocks]
            return Scores(read_rows(rollout(layers), model, batch), logits=trace.logits)


def contributions(block: Block, p: int) -> Tensor:
    """(B,T,T) C of one block, rows sum to 1."""
    brought, own, norm = head_vectors(block.attention, block.inputs), block.inputs, block.attention.after
    if norm is not None:
        brought, own = unscaled(norm, brought), unscaled(norm, own)
    batch, positions = own.shape[:2]
    out, places = own.new_empty(batch, positions, positions), torch.arange(positions, device=own.device)[None]
    for rows in slices(positions, VECTORS // (batch * positions)):
        parts = weighted(block.attention.probabilities[:, rows], brought)  # (B,I,J,D)
        parts = add_own(parts, own[:, rows], places[:, rows])
        parts = parts if norm is None else parts.mul_(norm.inverse[:, rows].unsqueeze(2))
        whole = block.middle[:, rows].unsqueeze(2)  # (B,I,1,D)
        out[:, rows] = (whole.norm(p, -1) - parts.sub_(whole).norm(p, -1)).clamp(min=0)
    return _normalised(out)


def _normalised(rows: Tensor) -> Tensor:
    total = rows.sum(-1, keepdim=True)
    alone = torch.eye(rows.shape[-1], dtype=rows.dtype, device=rows.device)
    return torch.where(total == 0, alone, rows / torch.where(total == 0, 1.0, total))
