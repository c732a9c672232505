"""What metrics of a single attribution share: the order of units, rationale units, and merging tokens into words."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from assay.core.metric_facts import MetricFacts
from assay.core.types import Attribution, Bools, Example, Span, Unit
from assay.faithfulness.protocol import descending_order as descending_order

Ints = NDArray[np.int64]
Words = Literal["none", "sum", "max"]
Part = Literal["all", "text", "text_pair"]


class AttributionMetric(Protocol):
    """A metric of one attribution; None where the example has no rationale that the model has read."""

    @property
    def facts(self) -> MetricFacts: ...

    def measure(self, attribution: Attribution, example: Example) -> float | None: ...


def without_unseen(attribution: Attribution) -> Attribution:
    """Drop the units past the length limit: the model never read them, so they have no rank."""
    index = [i for i, unit in enumerate(attribution.units) if unit.seen]
    if len(index) == len(attribution.units):
        return attribution
    return replace(attribution, units=tuple(attribution.units[i] for i in index), scores=attribution.scores[index])


def of_part(attribution: Attribution, part: Part) -> Attribution:
    """The units of one of the two texts of a pair, or all."""
    if part == "all":
        return attribution
    segment = ("text", "text_pair").index(part)
    index = [i for i, unit in enumerate(attribution.units) if unit.segment == segment]
    return replace(attribution, units=tuple(attribution.units[i] for i in index), scores=attribution.scores[index])


def rationale_units(units: Sequence[Unit], example: Example) -> Bools:
    """(U,) the units that most annotators mark; those of the first annotator where no unit has a majority."""
    if not example.rationales:
        return np.zeros(len(units), bool)
    marks = np.stack([_covered(spans, units) for spans in example.rationales])
    majority: Bools = marks.sum(0) * 2 > len(marks)
    first: Bools = marks[0]
    return majority if majority.any() else first


def _covered(spans: Sequence[Span], units: Sequence[Unit]) -> Bools:
    """(U,) the units of the text that share a character with one of the spans."""
    start, end, segment = np.array([(u.start, u.end, u.segment) for u in units], np.int64).reshape(-1, 3).T
    covered = np.zeros(len(units), bool)
    for s in spans:
        covered |= (segment == s.segment) & (s.start < end) & (start < s.end)
    special: Bools = np.array([u.is_special for u in units], bool)
    return np.asarray(covered & ~special)


def scores_and_truth(
    attribution: Attribution, example: Example, words: Words = "none"
) -> tuple[NDArray[np.float32], Bools] | None:
    """Scores of the seen units and whether each is in the rationale; None if the rationale has no seen unit."""
    attribution = without_unseen(attribution)
    attribution = attribution if words == "none" else merge_words(attribution, example, words)
    truth = rationale_units(attribution.units, example)
    return (attribution.scores, truth) if truth.any() else None


def merge_words(attribution: Attribution, example: Example, how: Words) -> Attribution:
    """Merge the units of each word (text between white space); its score is their sum or maximum."""
    join = np.sum if how == "sum" else np.max
    units: list[Unit] = []
    scores: list[float] = []
    for segment, text in enumerate((example.text or "", example.text_pair or "")):
        words = [m.span() for m in re.finditer(r"\S+", text)]
        for (start, end), group in zip(words, _by_word(attribution.units, segment, words), strict=True):
            if group:
                units.append(Unit(text[start:end], start, end, segment))
                scores.append(float(join(attribution.scores[group])))
    return replace(attribution, units=tuple(units), scores=np.array(scores, np.float32))


def _by_word(units: Sequence[Unit], segment: int, words: Sequence[tuple[int, int]]) -> list[list[int]]:
    """For each word, the places of the units that share a character with it; a long text has thousands of both."""
    starts, ends = [start for start, _ in words], [end for _, end in words]
    groups: list[list[int]] = [[] for _ in words]
    for place, unit in enumerate(units):
        if not unit.is_special and unit.segment == segment:
            for group in groups[bisect_right(ends, unit.start) : bisect_left(starts, unit.end)]:
                group.append(place)
    return groups
