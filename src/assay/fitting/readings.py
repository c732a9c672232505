"""What a head reads of each text, kept while it is fitted: the explained model is frozen, so it runs once per text."""

from __future__ import annotations

import math
import os
import tempfile
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import layer_norm

from assay.core.progress import Progress
from assay.explainers.learned.parts.attribution_model import Attributor, Reading, Trunk
from assay.fitting.texts import FitBatch, FitTexts
from assay.models.batches import least_padding

LIMIT = 2 << 30  # bytes of states that are kept in memory; more of them are kept in a file


@dataclass(frozen=True, eq=False)
class KeptReadings:
    """The normalised hidden states (L,T,D) of each text in half precision, without padding."""

    states: tuple[Tensor, ...]

    def take(self, batch: FitBatch) -> Reading:
        """The reading of a batch; padding has states of 0."""
        first, width = self.states[0], batch.batch.ids.shape[1]
        out = first.new_zeros(len(batch.index), len(first), width, first.shape[-1], device=batch.outputs.device)
        for row, i in zip(out, batch.index, strict=True):
            row[:, : self.states[i].shape[1]] = self.states[i]
        return Reading(batch.outputs, out)


def kept_readings(texts: FitTexts, attributor: Attributor, *, progress: bool | None = None) -> KeptReadings | None:
    """Run the explained model on every text; None if the head reads no states, or there is no room for them.

    The batches depend on the texts alone, so that a resumed fit sees the same numbers.
    """
    head, model = attributor.model, texts.model
    if not isinstance(head, Trunk):
        return None
    shapes = [(head.layers, length, int(model.hf.config.get_text_config().hidden_size)) for length in texts.lengths]
    room = _room(sum(map(math.prod, shapes)), model.device)
    if room is None:
        return None
    kept = [part.view(shape) for part, shape in zip(room.split([*map(math.prod, shapes)]), shapes, strict=True)]
    with Progress("reading", len(texts), progress) as bar:
        for part in least_padding(range(len(texts)), texts.lengths, model.budget):
            states = attributor.read(model, texts.take(part).batch).states
            assert states is not None
            half = layer_norm(states.float(), states.shape[-1:]).half()
            for row, i in zip(half, part, strict=True):
                kept[i].copy_(row[:, : texts.lengths[i]])
            bar.advance(len(part))
    return KeptReadings(tuple(kept))


def _room(numbers: int, device: torch.device) -> Tensor | None:
    """Space for this many numbers in half precision; None if the disk has no space."""
    if 2 * numbers <= LIMIT:
        return torch.empty(numbers, dtype=torch.half, device=device)
    if not hasattr(os, "posix_fallocate"):  # a file without its space ends the process when the disk is full
        return None
    try:
        with tempfile.NamedTemporaryFile(prefix="assay-") as file:  # the mapping outlives the name
            os.posix_fallocate(file.fileno(), 0, 2 * numbers)
            return torch.from_file(file.name, shared=True, size=numbers, dtype=torch.half)
    except OSError:
        return None
