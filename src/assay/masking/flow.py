"""Run the flows of black-box methods in lock-step, so that the masks of all inputs share batches."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.core.types import Bools, Scores
from assay.masking.game import AnswersMasks, Outputs

Values = NDArray[np.float64]
Flow = Generator[Bools, Values, Any]  # yields keep-masks (M,U), receives values (M,), returns scores (U,) or Scores


def run_flows(game: AnswersMasks, flows: Sequence[Flow], value: Callable[[int, Outputs], Values]) -> list[Scores]:
    """Run all flows to the end; `value(i, outputs)` turns class outputs (M,C) into the values (M,) of flow i."""
    scores: dict[int, Scores] = {}
    answers: dict[int, Values | None] = dict.fromkeys(range(len(flows)))  # of the flows that still run
    while answers:
        requests: list[tuple[int, Bools]] = []
        for i, answer in answers.items():
            try:
                keep = next(flows[i]) if answer is None else flows[i].send(answer)
                requests.append((i, np.asarray(keep, bool)))
            except StopIteration as stop:
                scores[i] = stop.value if isinstance(stop.value, Scores) else Scores(stop.value)
        outputs = game.outputs(requests) if requests else []
        answers = {i: value(i, out) for (i, _), out in zip(requests, outputs, strict=True)}
    return [scores[i] for i in range(len(flows))]
