"""Gradients at many points in embedding space, in batches within the budget."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor

from assay.models.encoding import Batch
from assay.models.model import Model, NotFiniteError, wide
from assay.models.target import Targets

Points = Callable[[Tensor, Tensor], Tensor]  # (owner (R,), row (R,)) -> embeddings (R,T,D)


def summed_gradients(
    model: Model, batch: Batch, targets: Targets, owner: Tensor, weight: Tensor, points: Points
) -> Tensor:
    """(B,T,D) for each input, the sum over its rows r (owner[r]) of weight[r] * gradient at points(r)."""
    total: Tensor | None = None
    for rows in parts(batch, len(owner)):
        owners = owner[rows]
        index = owners.tolist()
        point = points(owners, rows)
        try:
            gradient = model.gradients(replace(batch.take(index), embeddings=point), targets.take(index)).gradient
        except NotFiniteError as error:
            error.row = index[error.row]  # the input, not the point
            raise
        part = wide(weight[rows].view(-1, 1, 1) * gradient)
        total = part.new_zeros(len(batch), *part.shape[1:]) if total is None else total
        total = total.index_add(0, owners, part)
    if total is None:
        raise ValueError("no points given")
    return total


def parts(batch: Batch, rows: int) -> tuple[Tensor, ...]:
    """Split 0..rows-1 into as few parts as the budget allows, of about equal size."""
    size = max(1, batch.budget // batch.ids.shape[1])
    return torch.arange(rows, device=batch.ids.device).chunk(math.ceil(rows / size))


def each(batch: Batch, times: int) -> Tensor:
    """Owners of `times` rows per input: 0,0,...,1,1,..."""
    return torch.arange(len(batch), device=batch.ids.device).repeat_interleave(times)
