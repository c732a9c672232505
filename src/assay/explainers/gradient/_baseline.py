"""The baseline of a path: the input with every unit removed."""

from __future__ import annotations

from torch import Tensor

from assay.masking.removal import removal_for
from assay.models.encoding import Batch
from assay.models.model import Model


def baseline_embeddings(model: Model, batch: Batch, baseline: str | None) -> Tensor:
    """(B,T,D); special tokens stay in place. `mask` is short for mask_token; None is the model's default removal."""
    name = "mask_token" if baseline == "mask" else baseline
    # the choice of the removal for the whole call has already warned
    return removal_for(model, name, warn=False).reference(model, batch).detach()
