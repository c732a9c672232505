"""Which inputs a fitted explainer has seen: its card holds a short hash of each."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from assay.core.types import Example


def text_mark(content: str) -> str:
    """A short hash by which an input is recognised."""
    return hashlib.sha256(content.encode()).hexdigest()[:10]


def text_marks(examples: Iterable[Example]) -> set[str]:
    """The hashes of inputs."""
    return {text_mark(example.content) for example in examples}


def count_seen(card: Mapping[str, Any], examples: Iterable[Example]) -> int:
    """How many of the examples the explainer was fitted on or chosen by; 0 for cards that do not say."""
    marks = set(card.get("texts", ()))
    return sum(text_mark(example.content) in marks for example in examples)
