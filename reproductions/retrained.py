"""Models that were trained more than once: another machine trains them again, and the weights differ by rounding.

Records say which weights they come from, so a page can name the parts that another training of the same model made, and
compare what both say about the same texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from assay.experiments.store import Record


@dataclass
class _Training:
    """The parts that were run with one set of weights, and its outputs by example."""

    parts: list[str] = field(default_factory=list)
    outputs: dict[str, list[float]] = field(default_factory=dict)


def retrained(records: Iterable[tuple[str, str, Record]]) -> list[str]:
    """A sentence for each model whose records come from more than one training; records come with model and part."""
    trainings: dict[str, dict[str, _Training]] = {}
    for model, part, record in records:
        if weights := record.provenance.get("weights"):
            training = trainings.setdefault(model, {}).setdefault(str(weights), _Training())
            training.parts += [part] if part not in training.parts else []
            if isinstance(record.rows, Mapping) and "outputs" in record.rows and "examples" in record.rows:
                training.outputs |= dict(zip(record.rows["examples"], record.rows["outputs"], strict=True))
    several = {model: list(found.values()) for model, found in trainings.items() if len(found) > 1}
    return [_sentence(model, found) for model, found in several.items()]


def _sentence(model: str, trainings: list[_Training]) -> str:
    times = "twice" if len(trainings) == 2 else f"{len(trainings)} times"
    parts = "; ".join(", ".join(f"`{part}`" for part in training.parts) for training in trainings)
    return (
        f"{model} was trained {times}, with the same data, recipe and seed, but on machines that round differently; "
        f"the parts of each training are {parts}. {_agreement(trainings)}"
    )


def _agreement(trainings: list[_Training]) -> str:
    shared, largest = set(), 0.0
    for one, other in combinations(trainings, 2):
        both = one.outputs.keys() & other.outputs.keys()
        shared |= both
        gaps = [float(np.abs(np.subtract(one.outputs[name], other.outputs[name])).max()) for name in both]
        largest = max([largest, *gaps])
    if not shared:
        return "The records have no text that both read."
    return f"Their outputs for the {len(shared)} texts that both read differ by at most {largest:.1g}."
