"""Batches within a budget of positions, and what happens when memory runs out."""

from __future__ import annotations

import pytest
import torch

from assay.core.errors import ModelError
from assay.models.batches import least_padding, longest_first, run_in_batches

LENGTHS = [3, 9, 4, 9, 2, 5]


@pytest.mark.parametrize("plan", [longest_first, least_padding])
@pytest.mark.parametrize("budget", [1, 9, 18, 20, 1000])
def test_every_sequence_once_and_within_the_budget(plan, budget):
    batches = plan(range(6), LENGTHS, budget)
    assert sorted(i for batch in batches for i in batch) == list(range(6))
    assert all(len(batch) == 1 or len(batch) * max(LENGTHS[i] for i in batch) <= budget for batch in batches)
    assert max(LENGTHS[i] for i in batches[0]) == 9


def test_batches_are_halved_until_they_fit():
    sizes = []

    def run(batch, budget):
        sizes.append(len(batch))
        if len(batch) > 2:
            raise torch.OutOfMemoryError("out of memory")
        return budget

    results = list(run_in_batches(LENGTHS, 64, run))
    assert sorted(i for batch, _ in results for i in batch) == list(range(6))
    assert max(sizes) == 6
    assert all(budget < 64 for _, budget in results)


@pytest.mark.parametrize(("divisible", "attempts"), [(False, 1), (True, 7)])
def test_one_sequence_too_many(divisible, attempts):
    """A run that works in parts gets smaller budgets first: 64, 32, ... 1."""
    budgets = []

    def run(batch, budget):
        budgets.append(budget)
        raise MemoryError

    with pytest.raises(ModelError, match="out of memory on a single sequence of 50 positions"):
        list(run_in_batches([50], 64, run, divisible=divisible))
    assert len(budgets) == attempts
