"""How white-box methods run: inputs of similar length in one batch, smaller batches if memory runs out."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from assay.core.errors import InputError, ModelError
from assay.core.rng import seed_of
from assay.core.types import Attribution, Cost
from assay.explainers.assemble import as_scores, attribution, check_finite, targets_and_values
from assay.explainers.round import Round
from assay.masking.game import out_of_memory
from assay.masking.units import to_units
from assay.models.encoding import Batch, Encoding
from assay.models.model import Model, NotFiniteError

BATCH_OVERHEAD = 32  # the fixed cost of running a batch, in positions


def explain_white_box(method: Any, inputs: Round) -> list[Attribution]:
    """Attributions of a white-box method, one per input."""
    attributions: dict[int, Attribution] = {}
    budget = inputs.budget
    # a method that runs many rows per input fills a pass with one input; more inputs would only add padding
    todo = batches_by_length(inputs.encodings, max(1, budget // getattr(method, "rows", 1)))
    while todo:
        rows = todo.pop()
        try:
            part = _explain_batch(method, inputs, rows, budget)
        except NotFiniteError as error:
            raise InputError(str(error), rows[error.row % len(rows)]) from error
        except InputError as error:  # its index is the place in this batch
            raise InputError(error.message, None if error.index is None else rows[error.index]) from error
        except (RuntimeError, MemoryError) as error:
            if not out_of_memory(error):
                raise
            if budget < 2:
                raise ModelError("out of memory on a single sequence; use a shorter text or a smaller model") from error
            budget //= 2
            half = max(1, len(rows) // 2)
            todo += [rows[:half], rows[half:]] if len(rows) > 1 else [rows]
            continue
        attributions.update(zip(rows, part, strict=True))
    return [attributions[i] for i in range(len(inputs.encodings))]


def batch_with_units(
    model: Model, encodings: Sequence[Encoding], seeds: tuple[int, ...] = (), budget: int | None = None
) -> Batch:
    """Tensors of whole inputs with the unit of each position."""
    batch = model.batch(encodings)
    unit_of = torch.full_like(batch.ids, -1)
    for row, encoding in zip(unit_of, encodings, strict=True):
        row[: len(encoding)] = torch.from_numpy(encoding.unit_of)
    batch = replace(batch, unit_of=unit_of, seeds=seeds)
    return batch if budget is None else replace(batch, budget=budget)


def batches_by_length(encodings: Sequence[Encoding], budget: int) -> list[list[int]]:
    """Indices in batches of similar length within the budget, cut so that padding and overhead cost least."""
    order = sorted(range(len(encodings)), key=lambda i: len(encodings[i]))
    best: list[tuple[float, list[list[int]]]] = [(0.0, [])]  # for the first j inputs: cost in positions, batches
    for j in range(1, len(order) + 1):
        width = len(encodings[order[j - 1]])
        starts = range(max(0, j - max(1, budget // width)), j)
        first = min(starts, key=lambda i: best[i][0] + (j - i) * width)
        cost = best[first][0] + BATCH_OVERHEAD + (j - first) * width
        best.append((cost, [*best[first][1], order[first:j]]))
    return best[-1][1]


def _explain_batch(method: Any, inputs: Round, rows: list[int], budget: int) -> list[Attribution]:
    model, encodings = inputs.model, [inputs.encodings[i] for i in rows]
    start, passes = time.perf_counter(), replace(model.passes)
    targets = inputs.targets(method).take(rows)
    seeds = tuple(seed_of(*inputs.seed_key(method, e)) for e in encodings)
    batch = batch_with_units(model, encodings, seeds, budget)
    result = as_scores(method.attribute(model, batch, targets))
    model.full_logits(batch, targets)
    assert batch.unit_of is not None
    scores = to_units(result.scores.detach(), encodings, batch.unit_of)
    for i, row in enumerate(scores):
        check_finite(row, method, i)
    n = len(encodings)
    cost = Cost(
        (model.passes.forwards - passes.forwards) / n,
        (model.passes.backwards - passes.backwards) / n,
        (time.perf_counter() - start) / n,
    )
    known = targets_and_values(targets)
    extras = [{key: values[i] for key, values in result.extra.items()} for i in range(n)]
    return [
        attribution(model, method, encoding, known[i], scores[i], cost, extras[i].pop("value_empty", None), extras[i])
        for i, encoding in enumerate(encodings)
    ]
