"""Random labels, each given away by one cue word in the text, which is therefore the correct explanation.

The augmented SST of the thesis "Assessing the Interpretability of Large Language Models" (Oxford, 2022): every label
is replaced by a uniformly random one and the word of the new label is appended. Known weakness: a text may already
contain the cue word ("a positive film"), as in the thesis; only the planted one is marked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from assay.core.errors import SpecError
from assay.core.rng import generator
from assay.core.types import Example
from assay.datasets.dataset import Dataset
from assay.datasets.insert import Position, check_position, insert_words, require_text

UNNAMED = {"0": "negative", "1": "positive"}  # cue words for two labels without names


def augmented(
    dataset: Dataset,
    *,
    seed: int = 0,
    position: Position = "end",
    share: float = 1.0,
    words: Mapping[str, str] | None = None,
) -> Dataset:
    """Give every text a uniformly random label and insert the label's cue word, which is the rationale.

    words: {label: cue word}; default: the label names. share: expected share of examples with a cue; the label of the
    others is unpredictable. The label of an example depends only on seed, id and text.
    """
    check_position(position)
    if not 0 <= share <= 1:
        raise SpecError(f"share={share}: must be between 0 and 1")
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
    text, spans = insert_words(require_text(example, "augmented"), [cue] if carries else [], position, rng)
    meta = {**example.meta, "cue": cue if carries else None, "original_label": example.label}
    rationales = (spans,) if carries else ()
    return replace(example, text=text, label=label if named else index, rationales=rationales, meta=meta)


def _cues(dataset: Dataset, words: Mapping[str, str] | None) -> dict[str, str]:
    """The cue word of each label, in the order of the labels."""
    labels = dataset.labels or (tuple(words) if words else ())
    if words is None:
        words = UNNAMED if set(labels) == set(UNNAMED) else {label: label for label in labels}
    cues = {label: words.get(label, "") for label in labels}
    if len(cues) < 2 or set(words) != set(cues) or len(set(cues.values())) < len(cues) or not all(cues.values()):
        raise SpecError(
            f"words={dict(words)} for the labels {', '.join(labels) or '(none)'}; "
            "give two or more labels a different word each"
        )
    return cues
