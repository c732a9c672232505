"""Insert words into a text and return their spans: how the generators plant cues."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from assay.core.errors import InputError, SpecError, nearest
from assay.core.types import Example, Span
from assay.datasets.tokens import word_spans

Position = Literal["start", "end", "random"]


def insert_words(
    text: str, words: Sequence[str], position: Position, rng: np.random.Generator
) -> tuple[str, tuple[Span, ...]]:
    """Insert words at the start, at the end, or each in a random gap between words; return the text and their spans."""
    starts = [*(start for start, _ in word_spans(text)), len(text)]  # a gap is identified by the word after it
    last = len(starts) - 1
    gaps = {"start": [0] * len(words), "end": [last] * len(words)}.get(position)
    gaps = rng.integers(0, last + 1, len(words)).tolist() if gaps is None else gaps
    out, done = "", 0
    spans = []
    for gap, word in sorted(zip(gaps, words, strict=True), key=lambda pair: pair[0]):
        out, done = out + text[done : starts[gap]], starts[gap]
        out += " " if out and not out[-1].isspace() else ""
        spans.append(Span(0, len(out), len(out) + len(word)))
        out += word if gap == last else f"{word} "
    return out + text[done:], tuple(spans)


def check_position(position: str) -> None:
    if position not in get_args(Position):
        raise SpecError(f"position={position!r}: {nearest(position, get_args(Position))}")


def require_text(example: Example, generator: str) -> str:
    if example.text is None:
        raise InputError(f"{generator} inserts words into texts, but example {example.id!r} is an image; give texts")
    return example.text
