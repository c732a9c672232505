"""Run sequences in batches within a budget of positions, and in smaller ones if memory runs out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import torch

from assay.core.errors import ModelError

T = TypeVar("T")
Plan = Callable[[Sequence[int], Sequence[int], int], list[list[int]]]  # (indices, all lengths, budget) -> batches
BATCH_OVERHEAD = 32  # the fixed cost of running a batch, in positions


def longest_first(indices: Sequence[int], lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Batches of at most `budget` padded positions, the longest sequences first."""
    batches: list[list[int]] = []
    for i in sorted(indices, key=lambda i: -lengths[i]):
        if batches and (len(batches[-1]) + 1) * lengths[batches[-1][0]] <= budget:
            batches[-1].append(i)
        else:
            batches.append([i])
    return batches


def least_padding(indices: Sequence[int], lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Batches of at most `budget` padded positions, cut so that padding and overhead cost least; longest first."""
    order = sorted(indices, key=lambda i: lengths[i])
    best: list[tuple[float, list[list[int]]]] = [(0.0, [])]  # for the first j sequences: cost in positions, batches
    for j in range(1, len(order) + 1):
        width = lengths[order[j - 1]]
        starts = range(max(0, j - max(1, budget // width)), j)
        first = min(starts, key=lambda i: best[i][0] + (j - i) * width)
        cost = best[first][0] + BATCH_OVERHEAD + (j - first) * width
        best.append((cost, [*best[first][1], order[first:j]]))
    return best[-1][1][::-1]


def run_in_batches(
    lengths: Sequence[int],
    budget: int,
    run: Callable[[list[int], int], T],
    plan: Plan = longest_first,
    *,
    divisible: bool = False,
) -> Iterator[tuple[list[int], T]]:
    """Yield each batch of indices with what `run(batch, budget)` returned for it.

    When memory runs out, the budget is halved and what is left is planned again. `divisible`: a smaller budget helps
    a batch of one sequence too, because `run` itself works in parts of at most `budget` positions.
    """
    batches = plan(range(len(lengths)), lengths, budget)
    while batches:
        batch = batches[0]
        try:
            result = run(batch, budget)
        except (RuntimeError, MemoryError) as error:
            if not out_of_memory(error):
                raise
            if budget < 2 or (len(batch) == 1 and not divisible):
                raise ModelError(
                    f"out of memory on a single sequence of {lengths[batch[0]]} positions; "
                    "use a shorter text or a smaller model"
                ) from error
            budget //= 2
            batches = plan([i for batch in batches for i in batch], lengths, budget)
            continue
        yield batch, result
        batches = batches[1:]


def out_of_memory(error: BaseException) -> bool:
    """Whether a batch was too large. The CPU allocator raises a plain RuntimeError."""
    text = str(error).lower()
    return isinstance(error, torch.OutOfMemoryError | MemoryError) or "out of memory" in text or "allocate" in text


def default_budget(device: torch.device) -> int:
    """Positions per forward pass: small batches stay in a CPU's cache, accelerators need large ones."""
    return 2048 if device.type == "cpu" else 16384
