"""Removals: what replaces a removed unit. One file each."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol

from torch import Tensor

from assay.core.additions import Additions, name_of
from assay.core.catalog import Catalog
from assay.core.errors import UnsupportedError
from assay.core.form import why_not_callable, why_not_frozen
from assay.core.notices import notice
from assay.core.types import Bools
from assay.models.encoding import Batch, Encoding, Rows

if TYPE_CHECKING:
    from assay.models.model import Model

REMOVALS = Catalog(
    "assay.masking.removal",
    "removal",
    added=Additions("removal", "assay.removals", "assay.masking.removal:why_not_a_removal"),
)


class Removal(Protocol):
    """How units are removed. Except for delete, read-out, position ids and attention mask stay the same."""

    shortens: ClassVar[bool]  # whether rows get shorter

    @property
    def name(self) -> str:
        """Its name in the catalogue, as callers and records write it."""

    def available(self, model: Model) -> str | None:
        """None, or the reason why it does not work with this model."""

    def rows(self, model: Model, encoding: Encoding, keep: Bools) -> Rows:
        """Variants of an example with the positions where `keep` (M,T) is False removed."""

    def reference(self, model: Model, batch: Batch) -> Tensor:
        """(B,T,D) embeddings with all units removed: the baseline of paths and soft masks."""


def why_not_a_removal(candidate: type) -> str | None:
    """Return the reason why a class cannot be used as a removal; None if it can."""
    verbs = {
        "available": ("model",),
        "rows": ("model", "encoding", "keep"),
        "reference": ("model", "batch"),
    }
    if (reason := why_not_frozen(candidate) or why_not_callable(candidate, verbs)) is not None:
        return reason
    if getattr(candidate, "name", None) != name_of(candidate):
        return f'Add to its class `name: ClassVar[str] = "{name_of(candidate)}"`, the name under which it is used.'
    if not isinstance(getattr(candidate, "shortens", None), bool):
        return "Add to its class `shortens: ClassVar[bool] = False`, or True if it makes texts shorter."
    return None


def removal_for(model: Model, name: str | None, *, warn: bool = True) -> Removal:
    """The removal with a name, or the model's default: the mask token or, with a warning, pad, unk or zero."""
    if name is not None:
        removal: Removal = REMOVALS.make(name)
        reason = removal.available(model)
        if reason:
            others = [n for n in REMOVALS.names if REMOVALS.make(n).available(model) is None]
            raise UnsupportedError(f"removal {name!r}: {reason}; this model supports {', '.join(others)}")
        return removal
    if model.family.images:
        return REMOVALS.make("mean_colour")  # type: ignore[no-any-return]
    if model.family.opaque and model.tokenizer.mask_token_id is None:
        return REMOVALS.make("delete")  # type: ignore[no-any-return]
    for default in ("mask_token", "pad", "unk", "zero"):
        removal = REMOVALS.make(default)
        if removal.available(model) is None:
            if warn and default != "mask_token":
                notice("removal", f"{model.name} has no mask token; units are removed by {default!r}")
            return removal
    raise UnsupportedError(f"no removal works with {model.name}")
