"""Labels drawn at random and one cue word that gives each away: the cue is the whole truth, so explanations have one.

The augmented SST of the thesis "Assessing the Interpretability of Large Language Models" (Oxford, 2022): every label
is replaced by a fair draw, then the word of the new label is put at the end. Known weakness: a text may hold the cue
word by itself ("a positive film"), as in the thesis; only the planted one is marked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from assay.core.errors import SpecError
from assay.core.rng import generator
from assay.core.types import Example
from assay.datasets.dataset import Dataset
from assay.datasets.insert import Position, check_position, insert, text_of

NUMBERED = {"0": "negative", "1": "positive"}  # words for two labels without names


def augmented(
    dataset: Dataset,
    *,
    seed: int = 0,
    position: Position = "end",
    share: float = 1.0,
    words: Mapping[str, str] | None = None,
) -> Dataset:
    """The texts with uniformly random labels and the cue word of the label, which is the rationale.

    words: {label: word}; each label's own name if None. share: the expected share of examples that carry a cue; the
    others have a random label that nothing explains. The draw of an example depends on seed, id and text only.
    """
    check_position(position)
    if not 0 <= share <= 1:
        raise SpecError(f"share={share}: give the share of examples that carry the cue, from 0 to 1")
    cues = _cues(dataset, words)
    named = not any(isinstance(example.label, int) for example in dataset)
    examples = tuple(_augment(example, cues, named, seed, position, share) for example in dataset)
    return replace(
        dataset, examples=examples, name=f"augmented({dataset.name})", labels=tuple(cues), task="classification"
    )


def _augment(
    example: Example, cues: Mapping[str, str], named: bool, seed: int, position: Position, share: float
) -> Example:
    rng = generator("augmented", seed, example.id, example.content)
    index, carries = int(rng.integers(len(cues))), bool(rng.random() < share)
    label, cue = list(cues.items())[index]
    text, spans = insert(text_of(example, "augmented"), [cue] if carries else [], position, rng)
    meta = {**example.meta, "cue": cue if carries else None, "original_label": example.label}
    marks = (spans,) if carries else ()
    return replace(example, text=text, label=label if named else index, rationales=marks, meta=meta)


def _cues(dataset: Dataset, words: Mapping[str, str] | None) -> dict[str, str]:
    """The word of each label, in the order of the labels."""
    labels = dataset.labels or (tuple(words) if words else ())
    if words is None:
        words = NUMBERED if set(labels) == set(NUMBERED) else {label: label for label in labels}
    cues = {label: words.get(label, "") for label in labels}
    if len(cues) < 2 or set(words) != set(cues) or len(set(cues.values())) < len(cues) or not all(cues.values()):
        raise SpecError(
            f"words={dict(words)} for the labels {', '.join(labels) or '(none)'}; "
            "give each of two or more labels a word of its own"
        )
    return cues
