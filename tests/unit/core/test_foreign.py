"""Scores made elsewhere become Attributions whose units tell the whole text; what does not fit is refused by name."""

from __future__ import annotations

import json

import captum.attr
import numpy as np
import pytest
import shap
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lime.lime_text import LimeTextExplainer

from assay import Attributions, InputError, SpecError
from assay.core.placing import place_words

TEXT = "A Café, really good!"


def scored(attribution):
    return [(unit.text, float(score)) for unit, score in zip(attribution.units, attribution.scores, strict=True)]


def count_good(texts):
    good = np.array([text.count("good") for text in texts], float)
    return np.stack([-good, good], 1)


# --- words, spans, characters ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ["A", "Café", ",", "really", "good", "!"],
        ["[CLS]", "a", "cafe", ",", "re", "##ally", "good", "!", "[SEP]", "[PAD]"],  # uncased WordPiece
        ["<s>", "A", "ĠCafé", ",", "Ġreally", "Ġgood", "!", "</s>"],
        ["▁A", "▁Café", ",", "▁really", "▁good", "!", "</s>"],
        ["A", "Café", "really", "good"],  # no punctuation
        ["A ", "Café, ", "really ", "good"],  # SHAP's pattern \W+
    ],
)
def test_words_of_any_tokenizer_are_found(words):
    (attribution,) = Attributions.from_words([TEXT], [words], [range(1, len(words) + 1)], label="positive")
    texts = [unit.text for unit in attribution.units]
    assert all(TEXT[unit.start : unit.end] == unit.text for unit in attribution.units)
    assert "".join("".join(texts).split()) == "".join(TEXT.split()), "the units tell the whole text"
    assert attribution.label == "positive"
    marked = "Café, " if "Café, " in words else "Café"
    number = next(i for i, word in enumerate(words) if word.strip("Ġ▁ ,").lower() in ("café", "cafe"))
    assert dict(scored(attribution))[marked.strip()] == number + 1


def test_an_unknown_word_gets_what_lies_between():
    words = ["[CLS]", "zz", "[UNK]", "a", "b", "[UNK]", "[SEP]"]
    (attribution,) = Attributions.from_words(["zz qaq a b ☃☃"], [words], [range(7)], label=0)
    assert scored(attribution) == [("zz", 1), ("qaq", 2), ("a", 3), ("b", 4), ("☃☃", 5)]


def test_the_texts_of_a_pair_follow_each_other():
    words = ["[CLS]", "A", "man", "[SEP]", "A", "woman", "[SEP]"]
    (attribution,) = Attributions.from_words([("A man.", "A woman.")], [words], [range(7)], label=1)
    assert [(u.text, u.segment) for u in attribution.units] == [
        ("A", 0), ("man", 0), (".", 0), ("A", 1), ("woman", 1), (".", 1)
    ]  # fmt: skip
    assert attribution.scores.tolist() == [1, 2, 0, 4, 5, 0]


def test_spans_and_characters():
    (attribution,) = Attributions.from_spans(["so good a film"], [[(3, 7)]], [[2.0]], label=None, name="ann")
    assert scored(attribution) == [("so", 0), ("good", 2), ("a", 0), ("film", 0)]
    assert attribution.label == ""
    (attribution,) = Attributions.from_spans([("so", "good")], [[(1, 0, 4)]], [[2.0]], label=1)
    assert scored(attribution) == [("so", 0), ("good", 2)]
    (attribution,) = Attributions.from_characters(["ab c"], [[1, 2, 0, 3]], label="x")
    assert scored(attribution)[-1] == ("c", 3)


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="abÉé ,.!\u200b\n漢🙂", max_size=30))
def test_any_text_is_found_in_itself(text):
    words = text.split()
    for word, place in zip(words, place_words(words, [text]), strict=True):
        if place is not None:
            assert word.strip("\u200b") in text[place.start : place.end] or text[place.start : place.end] in word


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            (["a b c"], [["a", "c"]], [[1, 2]]),
            ["text 1, 'a b c': word 2, 'c', does not", "goes on with 'b c'"],
        ),
        ((["a b"], [["a", "b", "b"]], [[1, 2, 3]]), ["word 3, 'b', does not come next", "is at its end"]),
        ((["a b", "c d"], [["a", "b"], ["c", "d"]], [[1, 2], [1]]), ["text 2, 'c d'", "1 scores for 2 words"]),
        ((["a b"], [["a", "b"]], [[1, float("nan")]]), ["text 1, 'a b'", "score 2 is NaN or infinite"]),
        ((["a b"], [["a", "b"]], [["x", "y"]]), ["is not a list of numbers"]),
        ((["a b", "c"], [["a", "b"]], [[1, 2]]), ["there are 2 texts, but 1 as units"]),
        (("a b", ["a", "b"], [1, 2]), ["texts must be a list of texts"]),
        (([3], [["a"]], [[1]]), ["give a text or a pair of texts, not int"]),
    ],
)
def test_what_does_not_fit_is_refused(arguments, words):
    with pytest.raises(InputError) as refusal:
        Attributions.from_words(*arguments, label=1)
    assert all(word in str(refusal.value) for word in words), refusal.value


def test_spans_counted_in_words_are_refused():
    text, scores = "a really wonderful film", [0.1, 0.2, 0.9, 0.3]
    with pytest.raises(
        InputError, match=r"2 of 4 spans cut words apart, such as \[3, 4\], 'e'; are they counted in words"
    ):
        Attributions.from_spans([text], [[[0, 1], [1, 2], [2, 3], [3, 4]]], [scores], label="x")
    parts = [[0, 1], [2, 4], [4, 8], [9, 18]]  # pieces of words, as tokenizers make them; "film" is not scored
    assert len(Attributions.from_spans([text], [parts], [scores], label="x")[0].units) == 5
    assert len(Attributions.from_spans(["这部电影很好看"], [[[0, 1], [2, 4]]], [[1, 2]], label="x")[0].units) == 4
    for span in ([0, 1.7], [0, float("nan")], [0, "a"], [0, None]):
        with pytest.raises(InputError, match="is not a span"):
            Attributions.from_spans([text], [[span]], [[1]], label="x")
    with pytest.raises(InputError, match="label=True is not a label"):
        Attributions.from_spans([text], [[[0, 1]]], [[1]], label=True)


def test_the_class_must_be_said():
    with pytest.raises(InputError, match="say which class the scores explain: label="):
        Attributions.from_words(["a b"], [["a", "b"]], [[1, 2]])
    with pytest.raises(InputError, match=r"the span \[0, 9\] is not inside the text, which has 3 characters"):
        Attributions.from_spans(["abc"], [[[0, 9]]], [[1]], label=0)
    with pytest.raises(SpecError, match="cannot be the name of scores"):
        Attributions.from_words(["a"], [["a"]], [[1]], label=0, name="a ~ b")


# --- other libraries -------------------------------------------------------------------------------------------------


def explanation_of(*rows, names):
    """A shap.Explanation as shap.Explainer gives it for texts: (tokens, values (T,C)) per text."""
    tokens = tuple(np.array(tokens, object) for tokens, _ in rows)
    values = np.empty(len(rows), object)
    values[:] = [np.array(table, float) for _, table in rows]
    return shap.Explanation(values=values, base_values=np.zeros((len(rows), 2)), data=tokens, output_names=names)


GOOD = (["", "a ", "good ", "film", ""], [[0, 0], [0, 0], [-1, 1], [0, 0], [0, 0]])
BAD = (["", "bad", ""], [[0, 0], [1, -1], [0, 0]])


def test_a_shap_explanation_has_all_its_classes():
    explanation = explanation_of(GOOD, BAD, names=["negative", "positive"])
    attributions = Attributions.from_shap(explanation)
    assert [a.label for a in attributions] == ["negative", "positive"] * 2
    assert scored(attributions[1]) == [("a", 0), ("good", 1), ("film", 0)]
    assert Attributions.from_shap(explanation[:, :, "positive"]) == [attributions[1], attributions[3]]
    assert Attributions.from_shap(explanation[0, :, "positive"]) == [attributions[1]]
    each = explanation_of(GOOD, BAD, names=np.array([["positive", "negative"], ["negative", "positive"]]))
    assert [a.label for a in Attributions.from_shap(each)] == ["positive", "negative", "negative", "positive"]


def test_shap_without_names_or_with_dropped_characters():
    explanation = explanation_of((["so ", "good"], [[0, 0], [-1, 1]]), names=["Output 0", "Output 1"])
    with pytest.raises(InputError, match="does not name the class of each of its 2 columns; give label="):
        Attributions.from_shap(explanation)
    one, two = Attributions.from_shap(explanation, label=["negative", "positive"], texts=["so good!"])
    assert one.label == "negative"
    assert scored(two) == [("so", 0), ("good", 1), ("!", 0)], "SHAP's pattern drops what follows the last word"
    unnamed = shap.Explanation(values=np.array([[0.0, 1.0]]), data=(np.array(["so ", "good"], object),))
    with pytest.raises(InputError, match="say which class the scores explain"):
        Attributions.from_shap(unnamed)
    assert Attributions.from_shap(unnamed, label=None)[0].label == ""


def test_a_lime_explanation():
    def predict(texts):
        odds = np.exp(count_good(texts))
        return odds / odds.sum(1, keepdims=True)

    explainer = LimeTextExplainer(class_names=["negative", "positive"], random_state=0)
    explanation = explainer.explain_instance("good, so good!", predict, labels=(0, 1), num_samples=50)
    attributions = Attributions.from_lime(explanation)
    assert [a.label for a in attributions] == ["negative", "positive"]
    weight = dict(explanation.as_list(label=1))["good"]
    assert dict(scored(attributions[1]))["good"] == pytest.approx(weight / 2), "two occurrences share the weight"
    assert sum(attributions[1].scores) == pytest.approx(sum(dict(explanation.as_list(label=1)).values()))


def test_captum_sums_over_the_embedding():
    tokens = [["[CLS]", "good", "film", "[SEP]"], ["[CLS]", "bad", "[SEP]", "[PAD]"]]
    inputs = torch.ones(2, 4, 3)
    attributions = captum.attr.Saliency(lambda x: (x * torch.arange(4.0)[:, None]).sum((1, 2))).attribute(
        inputs.requires_grad_()
    )
    first, second = Attributions.from_captum(["good film", "bad"], tokens, attributions, label=[1, 0])
    assert scored(first) == [("good", 3), ("film", 6)]
    assert (scored(second), second.label) == ([("bad", 3)], "0")


# --- files -----------------------------------------------------------------------------------------------------------


def test_a_file_of_scores(tmp_path):
    lines = [
        {"text": "a b", "label": "x", "words": ["a", "b"], "scores": [1, 2]},
        {"text": "a b", "label": None, "spans": [[2, 3]], "scores": [2], "id": "7"},
        {"text": "ab", "text_pair": "c", "label": 1, "scores": [1, 2, 3]},
    ]
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    words, spans, characters = Attributions.from_file(path)
    assert (str(words.method), scored(words)) == ("mine", [("a", 1), ("b", 2)])
    assert (spans.label, spans.example_id, scored(spans)) == ("", "7", [("a", 0), ("b", 2)])
    assert scored(characters) == [("a", 1), ("b", 2), ("c", 3)]
    assert Attributions.from_file(path, "theirs")[0].method.name == "theirs"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "line 1: it is not JSON"),
        ("3", "line 1: it is not an object"),
        ("[" * 100_000, "line 1: it is not JSON"),
        ('{"text": "a"}', "line 1: it needs `text` and `scores`"),
        ('{"text": "a", "scores": [1]}', 'does not say which class the scores explain; add "label"'),
        ('{"text": "ab", "scores": [1], "label": 0}', "there are 1 scores for 2 words, spans or characters"),
        ('{"units": [], "scores": [1]}', "not a line of `assay explain --output`"),
        ('{"text": "a", "scores": [NaN], "label": 0}', "score 1 is NaN"),
        ("", "has no scores; write one line per text"),
    ],
)
def test_a_wrong_file_is_one_sentence(tmp_path, line, words):
    path = tmp_path / "mine.jsonl"
    path.write_text(line)
    with pytest.raises(InputError, match=r"^mine\.jsonl") as refusal:
        Attributions.from_file(path)
    assert words in str(refusal.value)
