"""In which batches the items of an epoch come: a function of the key and the epoch, never of the machine."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assay.core.rng import generator

POOL = 50  # batches that are sorted by length together: little padding, and still other neighbours in every epoch


def epoch_batches(
    size: int, batch_size: int, key: object, epoch: int, lengths: Sequence[int] | None = None
) -> list[list[int]]:
    """All items 0..size-1 once, shuffled; with `lengths`, items of about one length share a batch."""
    rng = generator("order", key, epoch)
    items = rng.permutation(size)
    if lengths is None:
        return _cut(items, batch_size)
    long = np.asarray(lengths)
    pools = [np.array(pool) for pool in _cut(items, POOL * batch_size)]
    batches = [b for pool in pools for b in _cut(pool[np.argsort(-long[pool], kind="stable")], batch_size)]
    return [batches[i] for i in rng.permutation(len(batches))]


def _cut(items: NDArray[np.int64], size: int) -> list[list[int]]:
    return [items[start : start + size].tolist() for start in range(0, len(items), size)]
