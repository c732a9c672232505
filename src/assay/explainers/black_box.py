"""How black-box methods and readers run: all inputs at once, every mask through the Game of the round."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from assay.core.errors import InputError
from assay.core.rng import generator
from assay.core.types import Attribution, Cost
from assay.explainers.assemble import attribution, checked_scores, known_values
from assay.explainers.protocols import Reader
from assay.explainers.round import Round
from assay.explainers.starved import notice_starved
from assay.masking.flow import Flow, run_flows
from assay.masking.game import Outputs
from assay.masking.units import pad_unseen
from assay.models.encoding import Encoding


def explain_black_box(method: Any, inputs: Round) -> list[Attribution]:
    """Attributions of a black-box method or a reader, one per input."""
    game, encodings = inputs.game, inputs.encodings
    notice_starved(method, encodings)
    before = [(tally.forwards, tally.seconds) for tally in game.tallies]
    targets = inputs.targets(method).resolve(torch.from_numpy(game.full()))
    flows = [_flow(method, inputs, i, label) for i, label in enumerate(targets.labels.tolist())]

    def value(i: int, outputs: Outputs) -> NDArray[np.float64]:
        # float64: differences between probabilities near 1 keep their digits
        return targets.take([i]).values(torch.from_numpy(outputs).double()).numpy()

    start = time.perf_counter()
    results = run_flows(game, flows, value)
    seconds = (time.perf_counter() - start) / max(1, len(encodings))
    known = known_values(targets)
    attributions = []
    for i, (encoding, result) in enumerate(zip(encodings, results, strict=True)):
        tally, (forwards, earlier) = game.tallies[i], before[i]
        cost = Cost(tally.forwards - forwards, 0, max(seconds, tally.seconds - earlier))
        scores = pad_unseen(checked_scores(result.scores, encoding.players, method, i), encoding)
        empty = game.known(i, np.zeros(encoding.players, bool))
        value_empty = None if empty is None else float(value(i, empty[None])[0])
        attributions.append(
            attribution(inputs.model, method, encoding, known[i], scores, cost, value_empty, result.extra)
        )
    return attributions


def _flow(method: Any, inputs: Round, i: int, label: int) -> Flow:
    """The masks that a method asks for; a reader asks for none."""
    encoding = inputs.encodings[i]
    if not isinstance(method, Reader):
        return method.flow(encoding.players, generator(*inputs.seed_key(method, encoding)))  # type: ignore[no-any-return]
    return _reading(method, encoding, inputs.model.labels, label, i)


def _reading(method: Reader, encoding: Encoding, labels: Sequence[str], label: int, i: int) -> Flow:
    yield from ()
    try:
        return method.read(encoding.example, encoding.units[: encoding.players], labels[label], labels)
    except InputError as error:
        raise InputError(error.message, i) from error
