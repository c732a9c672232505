"""GlobEnc (Modarressi et al. 2022)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from assay.core.types import Scores
from assay.explainers.attention_matrices import read_rows, rollout
from assay.explainers.decomposition._norms import lengths
from assay.explainers.decomposition._vectors import head_vectors
from assay.explainers.protocols import MethodFacts
from assay.models.encoding import Batch
from assay.models.model import Model
from assay.models.target import Targets
from assay.models.trace import Block, Norm


@dataclass(frozen=True)
class Globenc:
    """N[i,j] = |n2(n1(sum_h A^h_ij W_O^h (W_V^h x_j + b_V^h) + [i = j] x_i))| per block; score = a row of N_L ... N_1.

    n1, n2: the norms of the block with the spread of the real states, without their shifts; a pre-norm block has none
    after its residuals. Feed-forward layers enter only through that spread. The row is the one that the head reads.
    Weakness: the same for every class, never negative; the product is not normalised, so sizes grow with depth and
    only the order within one input is meaningful.
    """

    facts: ClassVar[MethodFacts] = MethodFacts(
        scale="logit", signed=False, complete=False, class_dependent=False, passes="1 f", memory="H x T x T"
    )

    def attribute(self, model: Model, batch: Batch, targets: Targets) -> Scores:
        trace = model.trace(batch)
        real = trace.mask.unsqueeze(-1)
        with torch.no_grad():
            scores = read_rows(rollout([block_lengths(block) * real for block in trace.blocks]), model, batch)
        return Scores(scores, logits=trace.logits)


def block_lengths(block: Block) -> Tensor:
    """(B,T,T) N of one block: its norms, apart from one factor per row, go into what each head brings."""
    brought, own = head_vectors(block.attention, block.inputs), block.inputs
    norms = [n for n in (block.attention.after, block.feed_forward.after) if n is not None]
    for norm in norms:
        brought, own = unscaled(norm, brought), unscaled(norm, own)
    norms_of_sums = lengths(block.attention.probabilities, brought, own)
    for norm in norms:
        norms_of_sums = norms_of_sums * norm.inverse.abs()
    return norms_of_sums


def unscaled(norm: Norm, x: Tensor) -> Tensor:
    """gain * (x - mean x), the part of a norm that is the same for every position."""
    return (x - x.mean(-1, keepdim=True) if norm.centred else x) * norm.gain
