"""A planted redundancy: the label's cue stands several times in the text, so that losing one of them costs nothing.

ROAR ranks the words once: a measure that is right about a model which reads one cue looks no better than random,
because the others stand in for it. Recursive ROAR ranks anew and finds them one after the other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from assay.core.errors import SpecError
from assay.core.rng import generator
from assay.core.types import Example
from assay.datasets.dataset import Dataset
from assay.datasets.insert import Position, check_position, insert, text_of


def repeated(
    dataset: Dataset,
    cues: Sequence[str] = ("amber", "velvet"),
    *,
    times: int = 3,
    seed: int = 0,
    position: Position = "random",
) -> Dataset:
    """The texts with labels drawn at random, and the cue of the label planted `times` times.

    cues: a word per label, in their order. The draw of an example depends on seed, id and text only; the planted words
    are the rationale.
    """
    check_position(position)
    labels = dataset.labels or ("0", "1")
    if len(set(cues)) != len(labels) or len(cues) != len(labels) or times < 1:
        raise SpecError(f"{len(cues)} cues, times={times}: give a different word for each of {', '.join(labels)}")
    words = "|".join(map(re.escape, cues))
    held = [e.id for e in dataset if re.search(rf"\b({words})\b", f"{e.text} {e.text_pair}", re.IGNORECASE)]
    if held:
        raise SpecError(f"{len(held)} texts already hold a cue (the first is {held[0]!r}); choose other words")
    examples = tuple(_planted(example, tuple(cues), times, seed, position) for example in dataset)
    return replace(
        dataset, examples=examples, name=f"repeated({dataset.name})", labels=tuple(labels), task="classification"
    )


def _planted(example: Example, cues: tuple[str, ...], times: int, seed: int, position: Position) -> Example:
    rng = generator("repeated", seed, example.id, example.content)
    label = int(rng.integers(len(cues)))
    text, spans = insert(text_of(example, "repeated"), [cues[label]] * times, position, rng)
    meta = {**example.meta, "original_label": example.label}
    return replace(example, text=text, label=label, rationales=(spans,), meta=meta)
