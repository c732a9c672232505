"""The words of texts for models that read whole texts, and texts again after words were removed."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.models.word_tokenizer import MASK, Text, WordTokenizer

TEXTS = st.text(st.characters(codec="utf-8"), max_size=30) | st.text("ab'’ (é中ไ่🇩🇪👩\u200d\u0301_-\n.", max_size=12)


def words(text: str) -> list[str]:
    tokens = WordTokenizer()(text)
    return [text[start:end] for start, end in tokens["offset_mapping"] if start < end]


def without(text: str, *removed: str, mask: str | None = None) -> Text:
    tokenizer = WordTokenizer(mask)
    tokens = tokenizer(text)
    pairs = zip(tokens["input_ids"], tokens["offset_mapping"], strict=True)
    ids = [MASK if mask and text[a:b] in removed else i for i, (a, b) in pairs if mask or text[a:b] not in removed]
    return tokenizer.text(ids)


@settings(max_examples=60, deadline=None)
@given(TEXTS, TEXTS)
def test_a_text_with_nothing_removed_is_the_very_text(text: str, pair: str) -> None:
    tokenizer = WordTokenizer()
    assert tokenizer.text(tokenizer(text)["input_ids"]) == text
    assert tokenizer.text(tokenizer(text, pair)["input_ids"]) == (text, pair)


@settings(max_examples=60, deadline=None)
@given(TEXTS)
def test_words_are_all_that_is_not_white_space(text: str) -> None:
    assert "".join(words(text)) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It's good, really!", ["It's", "good", ",", "really", "!"]),
        ("电影很好 ok", ["电", "影", "很", "好", "ok"]),
        ("映画", ["映", "画"]),
        ("ไม่ดี", ["ไ", "ม่", "ดี"]),  # a script without spaces: one unit per letter with its marks
        ("नमस्ते 👩\u200d👧🇩🇪", ["नमस्ते", "👩\u200d👧", "🇩🇪"]),
    ],
)
def test_words_by_unicode_rules(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "removed", "left"),
    [
        ("a good film", ["good"], "a film"),
        ("a good film", ["a"], "good film"),
        ("a good film", ["film"], "a good"),
        ("a good film", ["a", "good", "film"], ""),
        ("  a good film \n", ["a", "film"], "  good \n"),
        ("good, bad", [","], "good bad"),
        ("either(or)", ["("], "either or)"),  # never "eitheror", which would be another word
        ("a well-known film", ["well", "-"], "a known film"),
        ("电影很好", ["影"], "电很好"),
    ],
)
def test_deleted_words_leave_sensible_white_space(text: str, removed: list[str], left: str) -> None:
    assert without(text, *removed) == left


@pytest.mark.parametrize(
    ("text", "removed", "left"),
    [
        ("a good film.", ["good", "film"], "a [MASK] [MASK]."),
        ("(good)", ["good"], "([MASK])"),
        ("电影", ["电", "影"], "[MASK] [MASK]"),
    ],
)
def test_a_mask_takes_the_place_of_a_word(text: str, removed: list[str], left: str) -> None:
    assert without(text, *removed, mask="[MASK]") == left


def test_deletion_keeps_the_texts_of_a_pair_apart() -> None:
    tokenizer = WordTokenizer()
    ids = tokenizer("who won", "he did")["input_ids"]
    assert tokenizer.text([i for i in ids if tokenizer.text([ids[0], i, ids[-1]]) not in ("who", "won")]) == (
        "",
        "he did",
    )
