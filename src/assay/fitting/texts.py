"""The inputs that an explainer is fitted on, with what the explained model says about them, computed once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from assay.core.errors import InputError, SpecError
from assay.core.notices import unsaid
from assay.core.types import Example
from assay.explainers.white_box import batch_with_units
from assay.masking.units import divide
from assay.models.encoding import Batch, Encoding
from assay.models.model import Model

CHUNK = 64  # inputs per forward pass


@dataclass(frozen=True, eq=False)
class FitTexts:
    """Encoded inputs and the outputs (N,C) of the explained model for them."""

    model: Model
    encodings: tuple[Encoding, ...]
    outputs: Tensor

    def __len__(self) -> int:
        return len(self.encodings)

    @property
    def lengths(self) -> list[int]:
        return [len(encoding) for encoding in self.encodings]

    def take(self, index: Sequence[int]) -> FitBatch:
        chosen = [self.encodings[i] for i in index]
        return FitBatch(self.model, chosen, batch_with_units(self.model, chosen), self.outputs[list(index)])


@dataclass(frozen=True, eq=False)
class FitBatch:
    """Some of the inputs as a batch."""

    model: Model
    encodings: list[Encoding]
    batch: Batch
    outputs: Tensor  # (B,C)


def fit_texts(model: Model, examples: Iterable[Example]) -> FitTexts:
    """Encode the examples; those without words are left out."""
    encodings = []
    with unsaid("length"), model.frozen():
        for example in examples:
            try:
                encodings.append(divide(model.encode(example), "patch" if model.family.images else "token"))
            except InputError:
                continue
    if not encodings:
        raise SpecError("there is no text to fit on; give data with at least a few hundred texts")
    return FitTexts(model, tuple(encodings), _outputs(model, encodings))


@torch.no_grad()
def _outputs(model: Model, encodings: Sequence[Encoding]) -> Tensor:
    order = sorted(range(len(encodings)), key=lambda i: len(encodings[i]))
    out = torch.empty(len(encodings), len(model.labels), device=model.device)
    for start in range(0, len(order), CHUNK):
        index = order[start : start + CHUNK]
        out[index] = model.logits(model.batch([encodings[i] for i in index])).float()
    return out
