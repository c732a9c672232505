"""The order of the data: every item once, by key and epoch alone, with little padding if by length."""

from __future__ import annotations

import numpy as np

from assay.training.batching import epoch_batches


def flat(batches: list[list[int]]) -> list[int]:
    return [i for batch in batches for i in batch]


def test_every_item_once() -> None:
    lengths = np.random.default_rng(0).integers(3, 60, 1003)
    for given in (None, lengths):
        batches = epoch_batches(1003, 32, "key", 0, given)
        assert sorted(flat(batches)) == list(range(1003))
        assert sorted(map(len, batches)) == [11] + [32] * 31


def test_key_and_epoch_decide() -> None:
    first = epoch_batches(100, 8, "key", 0)
    assert first == epoch_batches(100, 8, "key", 0)
    assert first != epoch_batches(100, 8, "key", 1)
    assert first != epoch_batches(100, 8, "other", 0)


def test_known_values_on_every_machine() -> None:
    assert epoch_batches(8, 3, "key", 0) == [[2, 6, 1], [7, 0, 4], [3, 5]]


def test_by_length_wastes_little_and_still_mixes() -> None:
    lengths = np.random.default_rng(1).integers(3, 60, 6920)

    def padded(batches: list[list[int]]) -> float:
        return sum(len(b) * lengths[b].max() for b in batches) / lengths.sum()

    assert padded(epoch_batches(6920, 32, "key", 0)) > 1.7
    assert padded(epoch_batches(6920, 32, "key", 0, lengths)) < 1.05
    sizes = [lengths[b].max() for b in epoch_batches(6920, 32, "key", 0, lengths)]
    assert abs(np.corrcoef(sizes, range(len(sizes)))[0, 1]) < 0.2, "batches come in random order"
    here, there = ({frozenset(b) for b in epoch_batches(6920, 32, "key", e, lengths)} for e in (0, 1))
    assert not here & there, "no batch is the same in two epochs"
