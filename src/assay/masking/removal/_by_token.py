"""Removals that replace tokens: the same sequence with other ids, and nothing else changes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import torch
from torch import Tensor

from assay.core.types import Bools
from assay.models.encoding import Batch, Encoding, Rows

if TYPE_CHECKING:
    from assay.models.model import Model


@dataclass(frozen=True)
class ByToken:
    """Replaces each removed token by a special token of the tokenizer."""

    name: str
    token: str  # mask, pad or unk
    shortens: ClassVar[bool] = False

    def available(self, model: Model) -> str | None:
        if model.family.images:
            return f"an image model has no {self.token} token"
        if self._id(model) is not None:
            return None
        if model.family.opaque and self.token == "mask":
            return "no mask was given (load_model(..., mask='[MASK]'))"
        return f"the {'function' if model.family.opaque else 'tokenizer'} has no {self.token} token"

    def rows(self, model: Model, encoding: Encoding, keep: Bools) -> Rows:
        rows = encoding.rows(len(keep))
        return replace(rows, ids=np.where(keep, rows.ids, self._id(model) or 0))

    def reference(self, model: Model, batch: Batch) -> Tensor:
        ids = batch.ids.masked_fill(batch.playing, self._id(model) or 0)
        own, other = (model.embeddings(replace(batch, ids=i, embeddings=None)) for i in (batch.ids, ids))
        return torch.where(batch.playing.unsqueeze(-1), other, own)

    def _id(self, model: Model) -> int | None:
        token_id: int | None = getattr(model.tokenizer, f"{self.token}_token_id")
        return token_id
