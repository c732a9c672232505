"""Take a unit out of the sequence: what follows moves up and is numbered anew."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from torch import Tensor

from assay.core.errors import UnsupportedError
from assay.core.types import Bools
from assay.models.encoding import Batch, Encoding, Rows

if TYPE_CHECKING:
    from assay.models.model import Model


@dataclass(frozen=True)
class Delete:
    """Removed tokens are gone; the only removal that renumbers positions. Special tokens always stay."""

    name: ClassVar[str] = "delete"
    shortens: ClassVar[bool] = True

    def available(self, model: Model) -> str | None:
        return "patches of an image have fixed places" if model.family.images else None

    def rows(self, model: Model, encoding: Encoding, keep: Bools) -> Rows:
        rows = encoding.rows(len(keep))
        order = np.argsort(~keep, axis=1, kind="stable")  # what stays, in order, then the rest
        ids, types = (np.take_along_axis(a, order, 1) for a in (rows.ids, rows.types))
        readout = keep[:, : encoding.readout].sum(1)  # the read-out token itself may be gone: then the last one left
        lengths = keep.sum(1)
        if not lengths.all():
            raise UnsupportedError(
                "delete leaves nothing to read: this model adds no special token; use another removal"
            )
        return replace(rows, ids=ids, types=types, lengths=lengths, readout=np.minimum(readout, lengths - 1))

    def reference(self, model: Model, batch: Batch) -> Tensor:
        raise UnsupportedError("delete has no embedding to blend with; use mask_token, pad, unk or zero as baseline")
