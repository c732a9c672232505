"""How black-box methods run: all inputs at once, every mask through the Game of the round."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from assay.core.rng import generator
from assay.core.types import Attribution, Cost
from assay.explainers.assemble import attribution, check_finite, known_values
from assay.explainers.round import Round
from assay.masking.flow import run_flows
from assay.masking.game import Outputs
from assay.masking.units import pad_unseen


def explain_black_box(method: Any, inputs: Round) -> list[Attribution]:
    """Attributions of a black-box method, one per input."""
    game, encodings = inputs.game, inputs.encodings
    before = [(tally.forwards, tally.seconds) for tally in game.tallies]
    targets = inputs.targets(method).resolve(torch.from_numpy(game.full()))
    flows = [method.flow(e.players, generator(*inputs.seed_key(method, e))) for e in encodings]

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
        scores = pad_unseen(np.asarray(result.scores, np.float64), encoding)
        check_finite(scores, method, i)
        empty = game.known(i, np.zeros(encoding.players, bool))
        value_empty = None if empty is None else float(value(i, empty[None])[0])
        attributions.append(
            attribution(inputs.model, method, encoding, known[i], scores, cost, value_empty, result.extra)
        )
    return attributions
