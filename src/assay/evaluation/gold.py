"""What every metric of single attributions shares: ranks, the true units, and words put together from their pieces."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from assay.core.types import Attribution, Bools, Example, Floats, Span, Unit

Ints = NDArray[np.int64]
Words = Literal["none", "sum", "max"]


class GoldMetric(Protocol):
    """Judges one attribution; None where the example has nothing to judge by (no rationale, nothing seen of it)."""

    better: ClassVar[Literal["higher", "lower"]]
    range: ClassVar[str]
    revision: ClassVar[int]

    def measure(self, attribution: Attribution, example: Example) -> float | None: ...


def seen(attribution: Attribution) -> Attribution:
    """Without the units that the model never read: they have no rank."""
    index = [i for i, unit in enumerate(attribution.units) if unit.seen]
    if len(index) == len(attribution.units):
        return attribution
    return replace(attribution, units=tuple(attribution.units[i] for i in index), scores=attribution.scores[index])


def order(scores: Floats) -> Ints:
    """Units from the highest score to the lowest; equal scores in reading order."""
    return np.argsort(-np.asarray(scores, np.float64), kind="stable")


def true_units(units: Sequence[Unit], example: Example) -> Bools:
    """(U,) which units the rationale covers: those that most annotators mark, or the first one where most mark none."""
    marks = np.array([[_covers(spans, unit) for unit in units] for spans in example.rationales], bool)
    if not len(marks):
        return np.zeros(len(units), bool)
    most: Bools = marks.sum(0) * 2 > len(marks)
    first: Bools = marks[0]
    return most if most.any() else first


def _covers(spans: Sequence[Span], unit: Unit) -> bool:
    return any(s.segment == unit.segment and s.start < unit.end and unit.start < s.end for s in spans)


def judged(
    attribution: Attribution, example: Example, words: Words = "none"
) -> tuple[NDArray[np.float32], Bools] | None:
    """Scores and truth of the seen units, or None where the truth has no seen unit."""
    attribution = seen(attribution)
    attribution = attribution if words == "none" else to_words(attribution, example, words)
    truth = true_units(attribution.units, example)
    return (attribution.scores, truth) if truth.any() else None


def to_words(attribution: Attribution, example: Example, how: Words) -> Attribution:
    """Units between white space put together, with the sum or the largest of their scores."""
    texts = (example.text or "", example.text_pair or "")
    words = [Span(i, *m.span()) for i, text in enumerate(texts) for m in re.finditer(r"\S+", text)]
    groups = [[k for k, u in enumerate(attribution.units) if _covers([w], u)] for w in words]
    pairs = [(w, g) for w, g in zip(words, groups, strict=True) if g]
    join = np.sum if how == "sum" else np.max
    units = tuple(Unit(texts[w.segment][w.start : w.end], w.start, w.end, w.segment) for w, _ in pairs)
    scores = np.array([join(attribution.scores[g]) for _, g in pairs], np.float32)
    return replace(attribution, units=units, scores=scores)
