"""Planted redundancy: the label's cue word occurs several times in the text, so removing one copy changes nothing.

ROAR (remove and retrain) ranks the words once: a method that correctly explains a model which reads a single copy
looks no better than random, because the other copies remain. Recursive ROAR ranks again after every removal and finds
all copies.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from assay.core.errors import SpecError
from assay.core.rng import generator
from assay.core.types import Example
from assay.datasets.dataset import Dataset
from assay.datasets.insert import Position, check_position, insert_words, require_text


def repeated(
    dataset: Dataset,
    cues: Sequence[str] = ("amber", "velvet"),
    *,
    times: int = 3,
    seed: int = 0,
    position: Position = "random",
) -> Dataset:
    """Give every text a random label and insert the label's cue word `times` times; the cues are the rationale.

    cues: one word per label, in label order. The label of an example depends only on seed, id and text.
    """
    check_position(position)
    labels = dataset.labels or ("0", "1")
    if len(set(cues)) != len(labels) or len(cues) != len(labels) or times < 1:
        raise SpecError(
            f"{len(cues)} cues, times={times}: give times >= 1 and a different word per label ({', '.join(labels)})"
        )
    words = "|".join(map(re.escape, cues))
    containing = [e.id for e in dataset if re.search(rf"\b({words})\b", f"{e.text} {e.text_pair}", re.IGNORECASE)]
    if containing:
        raise SpecError(
            f"{len(containing)} texts already contain a cue word (first: {containing[0]!r}); choose other words"
        )
    examples = tuple(_plant(example, tuple(cues), times, seed, position) for example in dataset)
    return replace(
        dataset, examples=examples, name=f"repeated({dataset.name})", labels=tuple(labels), task="classification"
    )


def _plant(example: Example, cues: tuple[str, ...], times: int, seed: int, position: Position) -> Example:
    rng = generator("repeated", seed, example.id, example.content)
    label = int(rng.integers(len(cues)))
    text, spans = insert_words(require_text(example, "repeated"), [cues[label]] * times, position, rng)
    meta = {**example.meta, "original_label": example.label}
    return replace(example, text=text, label=label, rationales=(spans,), meta=meta)
