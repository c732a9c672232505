"""Remove units from the sequence; the rest moves up and gets new positions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from torch import Tensor

from assay.core.errors import UnsupportedError
from assay.core.types import Bools
from assay.models.encoding import SPECIAL, Batch, Encoding, Rows

if TYPE_CHECKING:
    from assay.models.model import Model


@dataclass(frozen=True)
class Delete:
    """Deletes removed tokens; the only removal that renumbers positions. Special tokens always stay, even as units."""

    name: ClassVar[str] = "delete"
    shortens: ClassVar[bool] = True

    def available(self, model: Model) -> str | None:
        return "the patches of an image cannot be deleted" if model.family.images else None

    def rows(self, model: Model, encoding: Encoding, keep: Bools) -> Rows:
        rows = encoding.rows(len(keep))
        keep = keep | np.array([span == SPECIAL for span in encoding.spans])  # a model may have no input without them
        order = np.argsort(~keep, axis=1, kind="stable")  # kept positions in order, then the rest
        ids, types = (np.take_along_axis(a, order, 1) for a in (rows.ids, rows.types))
        readout = keep[:, : encoding.readout].sum(1)  # if the read-out token is deleted, the last one left
        lengths = keep.sum(1)
        if not lengths.all():
            raise UnsupportedError(
                "delete leaves an empty sequence, because this model adds no special tokens; use another removal"
            )
        return replace(rows, ids=ids, types=types, lengths=lengths, readout=np.minimum(readout, lengths - 1))

    def reference(self, model: Model, batch: Batch) -> Tensor:
        raise UnsupportedError("delete has no embedding to use as a baseline; use mask_token, pad, unk or zero")
