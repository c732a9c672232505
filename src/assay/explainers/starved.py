"""Sampling methods that have too few samples for the number of units."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from assay.core.notices import notice
from assay.core.spec import Spec
from assay.explainers.methods import parts_of
from assay.explainers.protocols import Composite
from assay.models.encoding import Encoding


def sampling_methods(method: Any) -> Iterator[Any]:
    """The method itself, or those it combines, where the samples must grow with the number of units."""
    if hasattr(method, "needed_samples"):
        yield method
    for part in parts_of(method) if isinstance(method, Composite) else ():
        yield from sampling_methods(part)


def is_starved(method: Any, units: int) -> bool:
    return bool(method.samples < method.needed_samples(units))


def starved_message(method: Any) -> str:
    """A sentence in the form of a notice."""
    name = Spec.of(method, full=False).name
    return (
        f"{name} had {method.samples} samples for {{most}} units ({{inputs}}): too few, so its scores are noisy. Give "
        f"at least two samples per unit, such as {name}(samples=1000) for 500 units, or explain larger units"
    )


def notice_starved(method: Any, encodings: Sequence[Encoding]) -> None:
    if not hasattr(method, "needed_samples"):
        return
    for encoding in encodings:
        if is_starved(method, encoding.players):
            notice("samples", starved_message(method), encoding.example.content, encoding.players)
