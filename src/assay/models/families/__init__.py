"""One file per architecture, with what cannot be read from the structure of the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from assay.core.catalog import Catalog

FAMILIES = Catalog("assay.models.families", "family")


@dataclass(frozen=True)
class Family:
    """Facts about an architecture. Paths are relative to the model or, where noted, to a block."""

    name: str
    model_types: tuple[str, ...]  # the `config.model_type` of its models
    causal: bool = False  # reads left to right: the read-out is the last token
    images: bool = False
    positions: Literal["from_zero", "after_pad", "none"] = "from_zero"  # how position ids are counted
    word: str = ""  # path of the look-up module, if get_input_embeddings() does not return it
    lead: int = 0  # positions before those of the look-up (the class token of an image)
    pools: bool = False  # the head reads the class token and the mean of the patches
    opaque: bool = False  # a function: only its answers can be seen
    recurrent: bool = False  # no transformer blocks: one attention reads the states of a recurrent network
    shared_parameters: tuple[str, ...] = ()  # parameters of the first block that all blocks use
    # For families that compute attention themselves, two modules of a block to hook:
    probabilities: str = ""  # the dropout that attention probabilities pass through
    value: str = ""  # the value projection


def family_of(model_type: str) -> Family:
    """The family of a model type; an unknown type gets a family without special facts."""
    for name in FAMILIES.names:
        family: Family = FAMILIES.get(name)
        if model_type in family.model_types:
            return family
    return Family(model_type, (model_type,), positions="none")
