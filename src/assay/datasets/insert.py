"""Words put into a text, and where they then are: what the generators with known truth plant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from assay.core.errors import InputError, SpecError, nearest
from assay.core.types import Example, Span
from assay.datasets.tokens import words

Position = Literal["start", "end", "random"]


def insert(
    text: str, planted: Sequence[str], position: Position, rng: np.random.Generator
) -> tuple[str, tuple[Span, ...]]:
    """The text with the words at its start, at its end, or each in a random gap between words, and their spans."""
    starts = [*(start for start, _ in words(text)), len(text)]  # a gap is named by the word that follows it
    last = len(starts) - 1
    gaps = {"start": [0] * len(planted), "end": [last] * len(planted)}.get(position)
    gaps = rng.integers(0, last + 1, len(planted)).tolist() if gaps is None else gaps
    out, done = "", 0
    spans = []
    for gap, word in sorted(zip(gaps, planted, strict=True), key=lambda pair: pair[0]):
        out, done = out + text[done : starts[gap]], starts[gap]
        out += " " if out and not out[-1].isspace() else ""
        spans.append(Span(0, len(out), len(out) + len(word)))
        out += word if gap == last else f"{word} "
    return out + text[done:], tuple(spans)


def check_position(position: str) -> None:
    if position not in get_args(Position):
        raise SpecError(f"position={position!r}: {nearest(position, get_args(Position))}")


def text_of(example: Example, generator: str) -> str:
    if example.text is None:
        raise InputError(f"{generator} puts words into texts, but example {example.id!r} is an image; give texts")
    return example.text
