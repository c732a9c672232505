"""The batches of an epoch, determined by key and epoch alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assay.core.rng import generator

POOL = 50  # batches sorted by length together: little padding, yet different neighbours in every epoch


def epoch_batches(
    size: int, batch_size: int, key: object, epoch: int, lengths: Sequence[int] | None = None
) -> list[list[int]]:
    """All items 0..size-1 once, shuffled; with `lengths`, batches contain items of similar length."""
    rng = generator("order", key, epoch)
    items = rng.permutation(size)
    if lengths is None:
        return _cut(items, batch_size)
    all_lengths = np.asarray(lengths)
    pools = [np.array(pool) for pool in _cut(items, POOL * batch_size)]
    batches = [b for pool in pools for b in _cut(pool[np.argsort(-all_lengths[pool], kind="stable")], batch_size)]
    return [batches[i] for i in rng.permutation(len(batches))]


def _cut(items: NDArray[np.int64], size: int) -> list[list[int]]:
    return [items[start : start + size].tolist() for start in range(0, len(items), size)]
