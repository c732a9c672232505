"""How white-box methods run: inputs of similar length in one batch."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from assay.core.errors import InputError
from assay.core.rng import seed_of
from assay.core.types import Attribution, Cost
from assay.explainers.assemble import as_scores, attribution, check_finite, known_values
from assay.explainers.round import Round
from assay.masking.units import to_units
from assay.models.batches import least_padding, run_in_batches
from assay.models.encoding import Batch, Encoding
from assay.models.model import Model, NotFiniteError


def explain_white_box(method: Any, inputs: Round) -> list[Attribution]:
    """Attributions of a white-box method, one per input."""
    rows_per_input = getattr(method, "rows", 1)

    def plan(indices: Sequence[int], lengths: Sequence[int], budget: int) -> list[list[int]]:
        # a method that runs many rows per input fills a pass with one input; more inputs would only add padding
        return least_padding(indices, lengths, max(1, budget // rows_per_input))

    def run(batch: list[int], budget: int) -> list[Attribution]:
        try:
            return _explain_batch(method, inputs, batch, budget)
        except NotFiniteError as error:
            raise InputError(str(error), batch[error.row % len(batch)]) from error
        except InputError as error:  # its index is the place in this batch
            raise InputError(error.message, None if error.index is None else batch[error.index]) from error

    attributions: dict[int, Attribution] = {}
    lengths = [len(encoding) for encoding in inputs.encodings]
    for batch, part in run_in_batches(lengths, inputs.budget, run, plan, divisible=True):
        attributions.update(zip(batch, part, strict=True))
    return [attributions[i] for i in range(len(inputs.encodings))]


def batch_with_units(
    model: Model, encodings: Sequence[Encoding], seeds: tuple[int, ...] = (), budget: int | None = None
) -> Batch:
    """Tensors of whole inputs with the unit of each position."""
    batch = model.batch(encodings)
    unit_of = torch.full_like(batch.ids, -1)
    for row, encoding in zip(unit_of, encodings, strict=True):
        row[: len(encoding)] = torch.from_numpy(encoding.unit_of)
    batch = replace(batch, unit_of=unit_of, seeds=seeds, encodings=tuple(encodings))
    return batch if budget is None else replace(batch, budget=budget)


def _explain_batch(method: Any, inputs: Round, rows: list[int], budget: int) -> list[Attribution]:
    model, encodings = inputs.model, [inputs.encodings[i] for i in rows]
    start, passes = time.perf_counter(), replace(model.passes)
    targets = inputs.targets(method).take(rows)
    seeds = tuple(seed_of(*inputs.seed_key(method, e)) for e in encodings)
    batch = batch_with_units(model, encodings, seeds, budget)
    result = as_scores(method.attribute(model, batch, targets))
    targets = targets.resolve(model.full_logits(batch) if result.logits is None else result.logits)
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
    known = known_values(targets)
    extras = [{key: values[i] for key, values in result.extra.items()} for i in range(n)]
    return [
        attribution(model, method, encoding, known[i], scores[i], cost, extras[i].pop("value_empty", None), extras[i])
        for i, encoding in enumerate(encodings)
    ]
