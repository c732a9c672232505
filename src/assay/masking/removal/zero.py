"""Replace units by zero embeddings; positions stay the same."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from torch import Tensor

from assay.core.types import Bools
from assay.models.encoding import Batch, Encoding, Rows

if TYPE_CHECKING:
    from assay.models.model import Model


@dataclass(frozen=True)
class Zero:
    """Sets the word embedding (or patch projection) of removed positions to 0. Works for all families."""

    name: ClassVar[str] = "zero"
    shortens: ClassVar[bool] = False

    def available(self, model: Model) -> str | None:
        return "a function reads texts, not embeddings" if model.family.opaque else None

    def rows(self, model: Model, encoding: Encoding, keep: Bools) -> Rows:
        return replace(encoding.rows(len(keep)), weights=keep.astype(np.float32))

    def reference(self, model: Model, batch: Batch) -> Tensor:
        own = model.embeddings(replace(batch, embeddings=None))
        return own.masked_fill(batch.playing.unsqueeze(-1), 0.0)
