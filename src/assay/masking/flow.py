"""Drives many flows in lock-step: every flow says which masks it wants, one stream answers them all."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.core.types import Bools, Scores
from assay.masking.game import Asks, Outputs

Values = NDArray[np.float64]
Flow = Generator[Bools, Values, Any]  # yields keep-masks (M,U), receives values (M,), returns scores (U,) or Scores


def run_flows(game: Asks, flows: Sequence[Flow], value: Callable[[int, Outputs], Values]) -> list[Scores]:
    """Run all flows to their end; `value(i, outputs)` turns class outputs (M,C) into the values (M,) of flow i."""
    done: dict[int, Scores] = {}
    answers: dict[int, Values | None] = dict.fromkeys(range(len(flows)))
    while answers:
        wanted: list[tuple[int, Bools]] = []
        for i, answer in answers.items():
            try:
                keep = next(flows[i]) if answer is None else flows[i].send(answer)
                wanted.append((i, np.asarray(keep, bool)))
            except StopIteration as stop:
                done[i] = stop.value if isinstance(stop.value, Scores) else Scores(stop.value)
        outputs = game.outputs(wanted) if wanted else []
        answers = {i: value(i, out) for (i, _), out in zip(wanted, outputs, strict=True)}
    return [done[i] for i in range(len(flows))]
