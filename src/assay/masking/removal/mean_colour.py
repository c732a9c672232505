"""Replace patches by the mean colour of the image."""

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
class MeanColour:
    """Fills each removed patch with the mean of each colour channel over the whole image."""

    name: ClassVar[str] = "mean_colour"
    shortens: ClassVar[bool] = False

    def available(self, model: Model) -> str | None:
        return None if model.family.images else "a text has no colours"

    def rows(self, model: Model, encoding: Encoding, keep: Bools) -> Rows:
        rows, lead = encoding.rows(len(keep)), model.family.lead
        if rows.pixels is None:
            raise ValueError("mean_colour needs pixels")
        _, _, height, width = rows.pixels.shape
        side = encoding.boxes[0][2]
        grid = keep[:, lead:].reshape(-1, height // side, width // side)  # (M, rows, columns)
        shown = grid.repeat(side, 1).repeat(side, 2)  # (M, height', width'), border pixels of no patch cut off
        shown = np.pad(shown, ((0, 0), (0, height - shown.shape[1]), (0, width - shown.shape[2])), constant_values=True)
        mean = rows.pixels.mean((2, 3), keepdims=True)
        return replace(rows, pixels=np.where(shown[:, None], rows.pixels, mean).astype(np.float32))

    def reference(self, model: Model, batch: Batch) -> Tensor:
        if batch.pixels is None:
            raise ValueError("mean_colour needs pixels")
        flat = batch.pixels.mean((2, 3), keepdim=True).expand_as(batch.pixels)
        own = model.embeddings(replace(batch, embeddings=None))
        blank = model.embeddings(replace(batch, pixels=flat, embeddings=None))
        return torch.where(batch.playing.unsqueeze(-1), blank, own)
