"""Several draws of methods of pure chance: one draw of `random` is a noisy baseline, the mean of many is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.core.attributions import Attributions
from assay.core.progress import Progress
from assay.explainers.round import Round
from assay.explainers.session import Session


@dataclass(frozen=True)
class Draws:
    """The further draws of each method of pure chance: the same method with other seeds."""

    methods: Mapping[str, Any]  # by the names of the draws
    names: Mapping[str, Sequence[str]]  # of all draws, the first of which is the method itself, by method

    @staticmethod
    def of(methods: Mapping[str, Any], draws: int) -> Draws:
        further: dict[str, Any] = {}
        names: dict[str, list[str]] = {}
        for name, method in methods.items():
            names[name] = [name]
            for k in range(1, draws if method.facts.chance else 1):
                draw = f"{name}, draw {k + 1}"
                further[draw] = replace(method, seed=method.seed + k)
                names[name].append(draw)
        return Draws(further, names)

    def explain(self, session: Session, inputs: Round) -> dict[str, Attributions]:
        """The attributions of the further draws."""
        return replace(session, methods=self.methods).explain(inputs, Progress("", None, show=False))

    def mean(self, by_draw: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
        """Values or curves of each method and example: the mean over its draws; None where a metric does not apply."""
        return {name: [_mean(row) for row in zip(*(by_draw[d] for d in self.names[name]), strict=True)]
                for name in self.names if name in by_draw}  # fmt: skip


def _mean(draws: Sequence[Any]) -> Any:
    """A single draw stays as it is, to the last digit."""
    known = [value for value in draws if value is not None]
    if len(draws) == 1 or not known:
        return draws[0]
    return np.mean(known, axis=0).tolist()
