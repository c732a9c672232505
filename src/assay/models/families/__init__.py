"""One small file per architecture: only what cannot be found out from the structure of the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from assay.core.catalog import Catalog

FAMILIES = Catalog("assay.models.families", "family")


@dataclass(frozen=True)
class Family:
    """What structure cannot tell about an architecture. Paths are relative to the model or, where said, to a block."""

    name: str
    model_types: tuple[str, ...]  # `config.model_type` of the models it serves
    causal: bool = False  # reads left to right: the read-out is the last token
    images: bool = False
    positions: Literal["from_zero", "after_pad", "none"] = "from_zero"  # how position ids are counted
    word: str = ""  # path of the look-up module, where get_input_embeddings() does not name it
    lead: int = 0  # positions ahead of the look-up's rows (the class token of an image)
    pools: bool = False  # the head reads the mean of the patches beside the class token
    recurrent: bool = False  # no transformer blocks: one attention reads the states of a recurrent network
    shared_parameters: tuple[str, ...] = ()  # parameters of the first block that all blocks use
    # Families that compute attention themselves are tapped by hooks on two modules of a block:
    probabilities: str = ""  # the dropout that attention probabilities pass through
    value: str = ""  # the value projection


def family_of(model_type: str) -> Family:
    """The family that serves a model type; an unknown type is handled by structure alone."""
    for name in FAMILIES.names:
        family: Family = FAMILIES.get(name)
        if model_type in family.model_types:
            return family
    return Family(model_type, (model_type,), positions="none")
