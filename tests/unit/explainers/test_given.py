"""Scores made elsewhere as a method: found by their text and class, and divided over the units of the session."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import assay
from assay import Attributions, InputError, SpecError
from assay.core.types import Example, Unit
from assay.explainers.given import given_scores, named_scores, shared_out

LABELS = ("negative", "positive")


def pieces(text, cuts):
    borders = sorted({0, *(cut % (len(text) + 1) for cut in cuts), len(text)})
    return [Unit(text[a:b], a, b) for a, b in pairwise(borders)]


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 30), st.lists(st.integers(0, 99)), st.lists(st.integers(0, 99)), st.integers(0, 9))
def test_the_total_stays_the_same(length, theirs, ours, seed):
    text = "x" * length
    units = pieces(text, theirs)
    scores = np.random.default_rng(seed).normal(size=len(units))
    shared = shared_out(units, scores, pieces(text, ours))
    assert shared.sum() == pytest.approx(scores.sum())
    assert shared_out(units, scores, units).tolist() == scores.tolist(), "equal units: exactly the same scores"


def test_larger_units_are_divided_and_smaller_ones_summed():
    word, parts = [Unit("unbelievably", 3, 15)], [Unit("un", 3, 5), Unit("believ", 5, 11), Unit("ably", 11, 15)]
    assert shared_out(word, [12.0], parts).tolist() == pytest.approx([2, 6, 4])
    assert shared_out(parts, [1.0, 2.0, 3.0], word).tolist() == [6]
    assert shared_out(word, [1.0], [Unit("unbelievably", 3, 15, segment=1)]).tolist() == [0]


def read(scores, example, label="positive"):
    units = [Unit("", 0, len(example.text or ""))]
    return scores.read(example, units, label, LABELS).tolist()


def words(text, scores, label, **about):
    return Attributions.from_words([text], [text.split()], [scores], label=label, **about)


def test_the_class_is_chosen_by_name_or_index():
    scores = given_scores("mine", words("a b", [1, 2], "negative") + words("a b", [3, 4], "positive"))
    assert read(scores, Example("a b")) == [7]
    assert read(scores, Example("a b"), "negative") == [3]
    assert read(given_scores("mine", words("a b", [1, 2], 1)), Example("a b")) == [3]
    assert read(given_scores("mine", words("a b", [1, 2], "1")), Example("a b")) == [3]
    assert read(given_scores("mine", words("a b", [1, 2], None)), Example("a b"), "negative") == [3]


def test_another_class_is_refused():
    scores = given_scores("mine", words("a b", [1, 2], "positive"))
    with pytest.raises(InputError, match=r"of 'a b' explain 'positive', but 'negative' is evaluated; .* \(--target\)"):
        read(scores, Example("a b"), "negative")
    with pytest.raises(InputError, match="the scores 'mine' explain an unknown label 'positve'; did you"):
        read(given_scores("mine", words("a b", [1, 2], "positve")), Example("a b"))


def test_texts_are_matched_by_content():
    scores = given_scores("mine", words("a b", [1, 2], None, ids=["7"]))
    assert read(scores, Example("a b", id="another")) == [3]
    with pytest.raises(InputError, match="'mine' have no entry for the text 'a c'"):
        read(scores, Example("a c", id="7"))
    with pytest.raises(InputError, match="one has only its beginning: give the whole texts"):
        read(scores, Example("a b ."))
    with pytest.raises(InputError, match="has other white space than that of the scores"):
        read(scores, Example("a  b"))
    with pytest.raises(InputError, match="input 1: the scores 'mine' have no entry for the text 'x'"):
        scores.check([Example("a b"), Example("x")])
    with pytest.raises(InputError, match="are for texts; an image has none"):
        read(scores, Example(image=np.zeros((2, 2, 3))))


def test_ids_tell_equal_texts_apart():
    both = words("a b", [1, 2], "positive", ids=["x"]) + words("a b", [3, 4], "positive", ids=["y"])
    assert read(given_scores("mine", both), Example("a b", id="y")) == [7]
    with pytest.raises(InputError, match="2 different entries for 'a b' and 'positive'; keep one, or give each the id"):
        read(given_scores("mine", both), Example("a b", id="z"))
    same = words("a b", [1, 2], "positive", ids=["x"]) + words("a b", [1, 2], "positive", ids=["y"])
    assert read(given_scores("mine", same), Example("a b", id="z")) == [3]


def test_a_pair_with_one_scored_text():
    """Texts that share their first part, as questions about one passage do."""
    passage = words("the passage", [1, 2], None, ids=["q1"]) + words("the passage", [3, 4], None, ids=["q2"])
    scores = given_scores("mine", passage)
    assert read(scores, Example("the passage", "Who?", id="q2")) == [7]
    both = Attributions.from_words([("a", "b"), ("a", "c")], [["a", "b"], ["a", "c"]], [[1, 2], [3, 4]], label=None)
    assert read(given_scores("mine", both), Example("a", "c")) == [3]


def test_names_and_digests(tmp_path):
    with pytest.raises(SpecError, match="'lime' is a method of Assay; give the scores another name, such as 'my lime'"):
        given_scores("lime", words("a", [1], None))
    with pytest.raises(InputError, match="the scores 'mine' are empty"):
        given_scores("mine", [])
    one, other = (given_scores("mine", words("a", [score], None)) for score in (1.0, 1.5))
    assert one.digest != other.digest
    path = tmp_path / "x.jsonl"
    path.write_text('{"text": "a", "label": null, "scores": [1]}\n')
    assert list(named_scores([str(path), f"again={path}"])) == ["x", "again"]
    with pytest.raises(SpecError, match="two files of scores are called 'x'"):
        named_scores([str(path), str(path)])
    line = '{"text": "a", "label": null, "scores": [1], "method": "%s"}\n'
    path.write_text(line % "one" + line % "two")
    assert list(named_scores([str(path)])) == ["x.one", "x.two"]
    with pytest.raises(assay.AssayError, match=r"there is no file .*nowhere\.jsonl"):
        named_scores([str(tmp_path / "nowhere.jsonl")])


def test_what_is_not_scores_is_refused():
    mine = words("a", [1], None)
    with pytest.raises(InputError, match="the scores 'mine' are dict; give Attributions, such as"):
        assay.evaluate(scores={"mine": {"a": 1}}, limit=1)
    with pytest.raises(SpecError, match=r'give scores as .*"name": attributions'):
        assay.evaluate(scores=mine, limit=1)
    with pytest.raises(SpecError, match="explanations made elsewhere are not methods; give evaluate scores="):
        assay.evaluate(methods=[mine], limit=1)
