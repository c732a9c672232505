"""What metrics of a single attribution share: the order of units, rationale units, and merging tokens into words."""

from __future__ import annotations

import re
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
    marks = np.array([[_covers(spans, unit) for unit in units] for spans in example.rationales], bool)
    if not len(marks):
        return np.zeros(len(units), bool)
    majority: Bools = marks.sum(0) * 2 > len(marks)
    first: Bools = marks[0]
    return majority if majority.any() else first


def _covers(spans: Sequence[Span], unit: Unit) -> bool:
    return not unit.is_special and any(
        s.segment == unit.segment and s.start < unit.end and unit.start < s.end for s in spans
    )


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
    texts = (example.text or "", example.text_pair or "")
    words = [Span(i, *m.span()) for i, text in enumerate(texts) for m in re.finditer(r"\S+", text)]
    groups = [[k for k, u in enumerate(attribution.units) if _covers([w], u)] for w in words]
    pairs = [(w, g) for w, g in zip(words, groups, strict=True) if g]
    join = np.sum if how == "sum" else np.max
    units = tuple(Unit(texts[w.segment][w.start : w.end], w.start, w.end, w.segment) for w, _ in pairs)
    scores = np.array([join(attribution.scores[g]) for _, g in pairs], np.float32)
    return replace(attribution, units=units, scores=scores)
