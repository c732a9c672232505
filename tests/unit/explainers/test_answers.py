"""Answers of language models in every form that they have: which words of the text they name."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.explainers.prompting._answer import key_of, read_answer

TEXT = "the film is not good but Brilliant and don't bore 7 und café"
WORDS = {key_of(w) for w in TEXT.split()}


@pytest.mark.parametrize(
    ("answer", "ranked", "dropped"),
    [
        ("good, brilliant, bore", ["good", "brilliant", "bore"], 0),
        ("good\nbrilliant\nbore\n", ["good", "brilliant", "bore"], 0),
        ("1. good\n2. Brilliant\n3) bore", ["good", "brilliant", "bore"], 0),
        ("1. good 2. brilliant 3. bore", ["good", "brilliant", "bore"], 0),
        ("- good\n* brilliant\n• bore", ["good", "brilliant", "bore"], 0),
        ('"good", “brilliant”, «bore»', ["good", "brilliant", "bore"], 0),
        ("**good**: it is positive\n`brilliant` (very strong)", ["good", "brilliant"], 0),
        (json.dumps(["good", "bore"]), ["good", "bore"], 0),
        ("```json\n" + json.dumps({"words": ["good", "bore"]}) + "\n```", ["good", "bore"], 1),
        ("The most important words are: good, bore.", ["good", "bore"], 0),
        ("good > brilliant > bore", ["good", "brilliant", "bore"], 0),
        ("good and brilliant", ["good", "brilliant"], 0),
        ("and, good", ["and", "good"], 0),
        ("not good", ["not", "good"], 0),
        ("GOOD, Ｇｏｏｄ, good", ["good"], 0),
        ("cafe\u0301, don't", ["café", "don't"], 0),
        ("7, good", ["7", "good"], 0),
        ("wonderful, good, great", ["good"], 2),
        ("wonderful, wonderful, wonderful", [], 1),
        ("I think that the film was rather nice to look at overall", [], 1),
        ('The word "good" shows that the film is what I call "wonderful" here', ["good"], 1),
        ("I'm sorry, but as a language model I cannot look into my own weights today", [], 1),
        ("", [], 0),
        (" \n,,;;\n---\n***", [], 0),
        ("!!!???", [], 0),
        ("good" * 50, [], 1),
        ("\x00\x1b[31mgood\x1b[0m, bore", ["bore"], 2),
        ("goodness, undo", [], 2),
    ],
)
def test_read(answer, ranked, dropped):
    found = read_answer(answer, WORDS)
    assert found.ranked == ranked
    assert found.dropped == dropped


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=300))
def test_any_text_is_read(answer):
    found = read_answer(answer, WORDS)
    assert set(found.ranked) <= set(WORDS)
    assert len(set(found.ranked)) == len(found.ranked)
    assert found.dropped >= 0


@pytest.mark.parametrize(
    "hostile", ["(" * 50_000, '"' * 50_000, "a " * 50_000, "good, " * 50_000, "1. " * 50_000, "[" * 9_999 + "]"]
)
def test_long_answers_take_no_time(hostile):
    assert read_answer(hostile, WORDS).dropped <= 2
