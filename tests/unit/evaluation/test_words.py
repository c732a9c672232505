"""Units in words and in rationales: the quick way gives what comparing every unit with every span gives."""

from __future__ import annotations

import re
from typing import Any, Literal

import numpy as np
import pytest

from assay.core.spec import Spec
from assay.core.types import Attribution, Example, Span, Target, Unit
from assay.evaluation.attribution_metric import merge_words, rationale_units

TEXTS = ("a  dull, lifeless film\n and far too long", " but the actors are   good ")


def overlaps(span: Span, unit: Unit) -> bool:
    """The definition: they share a character of the same text."""
    same = span.segment == unit.segment and unit.end > unit.start
    return same and bool(set(range(span.start, span.end)) & set(range(unit.start, unit.end)))


def random_units(rng: np.random.Generator) -> tuple[Unit, ...]:
    """Pieces of words, pieces across words and white space, and special tokens, in any order."""
    units = []
    for _ in range(rng.integers(1, 30)):
        segment = int(rng.integers(2))
        start = int(rng.integers(len(TEXTS[segment])))
        end = min(start + int(rng.integers(0, 9)), len(TEXTS[segment]))
        units.append(Unit(TEXTS[segment][start:end], start, end, segment))
    return tuple(units)


def attribution(units: tuple[Unit, ...], rng: np.random.Generator) -> Attribution:
    scores = rng.normal(size=len(units)).astype(np.float32)
    return Attribution(units, scores, Target(0), "positive", Spec("lime"))


@pytest.mark.parametrize("how", ["sum", "max"])
def test_words_have_the_scores_of_the_units_that_share_a_character(how: Literal["sum", "max"]) -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        whole = attribution(random_units(rng), rng)
        found = merge_words(whole, Example(text=TEXTS[0], text_pair=TEXTS[1]), how)
        expected: dict[tuple[int, int, int], Any] = {}
        for segment, text in enumerate(TEXTS):
            for word in re.finditer(r"\S+", text):
                span = Span(segment, *word.span())
                inside = [float(s) for u, s in zip(whole.units, whole.scores, strict=True) if overlaps(span, u)]
                if inside:
                    expected[segment, span.start, span.end] = sum(inside) if how == "sum" else max(inside)
        assert [(u.segment, u.start, u.end) for u in found.units] == list(expected)
        np.testing.assert_allclose(found.scores, list(expected.values()), rtol=1e-5, atol=1e-6)


def test_units_of_a_rationale_share_a_character_with_it() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        units = random_units(rng)
        spans = tuple(Span(int(rng.integers(2)), int(a), int(a + rng.integers(1, 6))) for a in rng.integers(0, 20, 3))
        found = rationale_units(units, Example(text=TEXTS[0], text_pair=TEXTS[1], rationales=(spans,)))
        assert found.tolist() == [any(overlaps(s, u) for s in spans) for u in units]


def test_no_rationale_marks_no_unit() -> None:
    assert rationale_units((Unit("dull", 3, 7),), Example(text=TEXTS[0])).tolist() == [False]
