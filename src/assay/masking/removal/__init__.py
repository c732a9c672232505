"""Removals: what takes the place of a unit. One file each."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, ClassVar, Protocol

from torch import Tensor

from assay.core.catalog import Catalog
from assay.core.errors import UnsupportedError
from assay.core.types import Bools
from assay.models.encoding import Batch, Encoding, Rows

if TYPE_CHECKING:
    from assay.models.model import Model

REMOVALS = Catalog("assay.masking.removal", "removal")


class Removal(Protocol):
    """How a unit is taken out. Read-out, position ids and attention mask of what stays never move (but for delete)."""

    shortens: ClassVar[bool]  # whether rows get shorter

    @property
    def name(self) -> str:
        """Its name in the catalogue, as callers and records write it."""

    def available(self, model: Model) -> str | None:
        """None, or why this model cannot have it."""

    def rows(self, model: Model, encoding: Encoding, keep: Bools) -> Rows:
        """Variants of an example with the positions where `keep` (M,T) is False removed."""

    def reference(self, model: Model, batch: Batch) -> Tensor:
        """(B,T,D) embeddings with every playing position removed: the far end of a soft mask."""


def removal_for(model: Model, name: str | None, *, warn: bool = True) -> Removal:
    """The removal of a name, or the model's default: the mask token, else pad, else unk, with a warning."""
    if name is not None:
        removal: Removal = REMOVALS.make(name)
        reason = removal.available(model)
        if reason:
            others = [n for n in REMOVALS.names if REMOVALS.make(n).available(model) is None]
            raise UnsupportedError(f"removal {name!r}: {reason}; this model has {', '.join(others)}")
        return removal
    if model.family.images:
        return REMOVALS.make("mean_colour")  # type: ignore[no-any-return]
    for default in ("mask_token", "pad", "unk", "zero"):
        removal = REMOVALS.make(default)
        if removal.available(model) is None:
            if warn and default != "mask_token":
                warnings.warn(f"{model.name} has no mask token; units are removed by {default!r}", stacklevel=3)
            return removal
    raise UnsupportedError(f"{model.name} has no removal")
