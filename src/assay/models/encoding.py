"""What a model reads: one example as positions (Encoding), variants of it (Rows), tensors of many (Batch)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from assay.core.types import Example, Floats, Span, Unit

Ints = NDArray[np.int64]
SPECIAL = Span(-1, 0, 0)


@dataclass(frozen=True)
class Encoding:
    """One example as T positions of the model. masking/units.py fills in `unit_of` and `units`."""

    example: Example
    ids: Ints  # (T,); zeros for an image
    types: Ints  # (T,) token types
    positions: Ints  # (T,) position ids, fixed here and never recomputed from ids
    spans: tuple[Span, ...]  # (T,)
    readout: int = 0  # position of the read-out of a causal model
    prefix: int = 0  # number of leading positions that a prompt has for every input
    unseen: tuple[Span, ...] = ()  # tokens past the length limit
    pixels: Floats | None = None  # (channels, height, width)
    picture: NDArray[np.uint8] | None = None  # (height, width, 3): what the pixels show
    boxes: tuple[tuple[int, int, int, int], ...] = ()  # of an image's patches, in order
    unit_of: Ints = field(default_factory=lambda: np.zeros(0, np.int64))  # (T,); -1 = no unit
    units: tuple[Unit, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def players(self) -> int:
        """Number of units that can be removed: those that the model reads."""
        return int(self.unit_of.max(initial=-1)) + 1

    def rows(self, times: int = 1) -> Rows:
        """`times` copies of the example, from which variants are made."""
        lengths = np.full(times, len(self), np.int64)
        pixels = None if self.pixels is None else np.broadcast_to(self.pixels, (times, *self.pixels.shape))
        ids, types, positions = (np.broadcast_to(a, (times, len(self))) for a in (self.ids, self.types, self.positions))
        return Rows(ids, types, positions, lengths, np.full(times, self.readout, np.int64), self.prefix, pixels)


@dataclass(frozen=True)
class Rows:
    """M variants of one example; variant m uses its first `lengths[m]` positions."""

    ids: Ints  # (M,T)
    types: Ints  # (M,T)
    positions: Ints  # (M,T)
    lengths: Ints  # (M,)
    readout: Ints  # (M,)
    prefix: int = 0
    pixels: Floats | None = None  # (M, channels, height, width)
    weights: Floats | None = None  # (M,T) factors of the embeddings


@dataclass(frozen=True)
class Batch:
    """Rows of many examples padded on the right, on the model's device."""

    ids: Tensor  # (B,T)
    mask: Tensor  # (B,T) 1 = position in use
    types: Tensor  # (B,T)
    positions: Tensor  # (B,T)
    readout: Tensor  # (B,)
    prefix: int = 0
    pixels: Tensor | None = None
    weights: Tensor | None = None  # (B,T) multiplies the embeddings
    embeddings: Tensor | None = None  # (B,T,D) instead of the look-up, for interpolation, noise and attacks
    keeps_prefix: bool = False  # embeddings of the prefix are those of the look-up, and need no gradient
    unit_of: Tensor | None = None  # (B,T)
    seeds: tuple[int, ...] = ()  # of each example's random generator
    budget: int = 1 << 30  # positions that may run at once
    encodings: tuple[Encoding, ...] = ()  # of the examples, where a method may need their texts

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def playing(self) -> Tensor:
        """(B,T) True where a position belongs to a unit and may be removed."""
        if self.unit_of is None:
            raise ValueError("this batch has no units; divide its encodings with masking.units.divide")
        return self.unit_of >= 0

    def repeat(self, times: int) -> Batch:
        """`times` copies of the batch: rows 0..B-1, 0..B-1, ..."""
        return self._rows(lambda t: t.repeat(times, *[1] * (t.dim() - 1)), list(range(len(self))) * times)

    def take(self, index: Sequence[int]) -> Batch:
        """The rows of an index, which may repeat."""
        chosen = torch.as_tensor(list(index), device=self.ids.device)
        return self._rows(lambda t: t[chosen], index)

    def _rows(self, change: Callable[[Tensor], Tensor], index: Sequence[int]) -> Batch:
        names = ("ids", "mask", "types", "positions", "readout", "pixels", "weights", "embeddings", "unit_of")
        changed: dict[str, Any] = {name: t if t is None else change(t) for name in names for t in [getattr(self, name)]}
        seeds = tuple(self.seeds[i] for i in index) if self.seeds else ()
        encodings = tuple(self.encodings[i] for i in index) if self.encodings else ()
        return replace(self, seeds=seeds, encodings=encodings, **changed)


def collate(rows: Sequence[Rows], pad_id: int, device: torch.device, dtype: torch.dtype) -> Batch:
    """Pad and stack the rows of several examples."""
    width = max(int(r.lengths.max()) for r in rows)
    lengths = np.concatenate([r.lengths for r in rows])
    used = np.arange(width) < lengths[:, None]  # (B,T)

    def stack(parts: Sequence[NDArray[Any]], fill: int) -> Tensor:
        out, row = np.full(used.shape, fill, parts[0].dtype), 0
        for part in parts:
            out[row : row + len(part), : part.shape[1]] = part[:, :width]
            row += len(part)
        out[~used] = fill
        return torch.from_numpy(out).to(device)

    pixels = None if rows[0].pixels is None else np.concatenate([r.pixels for r in rows if r.pixels is not None])
    weights = None if rows[0].weights is None else [r.weights for r in rows if r.weights is not None]
    return Batch(
        ids=stack([r.ids for r in rows], pad_id),
        mask=torch.from_numpy(used.astype(np.int64)).to(device),
        types=stack([r.types for r in rows], 0),
        positions=stack([r.positions for r in rows], 0),
        readout=torch.from_numpy(np.concatenate([r.readout for r in rows])).to(device),
        prefix=min(r.prefix for r in rows),
        pixels=None if pixels is None else torch.from_numpy(pixels).to(device, dtype),
        weights=None if weights is None else stack(weights, 1).to(dtype),
    )
