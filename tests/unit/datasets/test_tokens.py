"""Tokens in the text they came from: cases met in real files, and random tokenisations with known answers."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from assay.datasets.tokens import align_tokens, word_spans


def cut(tokens, text):
    return [None if place is None else text[slice(*place)] for place in align_tokens(tokens, text)]


@pytest.mark.parametrize(
    ("text", "tokens", "pieces"),
    [
        ("a fine film.", ["a", "fine", "film", "."], ["a", "fine", "film", "."]),
        ("an an an", ["an", "an", "an"], ["an", "an", "an"]),
        ("he hadn't said", ["he", "hadn", "'t", "said"], ["he", "hadn", "'t", "said"]),
        ("“Quite,” he said", ['"', "Quite", ",", '"', "he", "said"], ["“", "Quite", ",", "”", "he", "said"]),
        ('say "no" now', ["say", "``", "no", "''", "now"], ["say", '"', "no", '"', "now"]),
        ("''८९ yes", ['"', "८९", "yes"], ["''", "८९", "yes"]),
        ("a (b) c", ["a", "-LRB-", "b", "-RRB-", "c"], ["a", "(", "b", ")", "c"]),
        ("and/or", ["and", "\\/", "or"], ["and", "/", "or"]),
        ("wait … there", ["wait", "...", "there"], ["wait", "…", "there"]),
        ("भने— ‘राजा", ["भने", "-", "'", "राजा"], ["भने", "—", "‘", "राजा"]),
        ("यो पुर्\u200dयाउँदै हो", ["यो", "पुर्याउँदै", "हो"], ["यो", "पुर्\u200dयाउँदै", "हो"]),  # a joiner not to be seen
        ("cafe\u0301 noir", ["café", "noir"], ["cafe\u0301", "noir"]),
        ("The Film", ["the", "film"], ["The", "Film"]),
        ("room 42 is free", ["room", "<number>", "is", "free"], ["room", "42", "is", "free"]),
        ("Europa, in The", ['"', "Europa", '"', ",", "in", "The"], [None, "Europa", None, ",", "in", "The"]),
        ("a b", [], []),
        ("", ["a"], [None]),
    ],
)
def test_cases(text, tokens, pieces):
    assert cut(tokens, text) == pieces


def test_a_search_would_run_away():
    """The lost second token occurs much later: what follows must stay where it is."""
    text = "it was good , it was very good , but it ended with the word nonetheless"
    tokens = ["it", "nonetheless", "good", ",", "it", "was", "very", "good"]
    places = align_tokens(tokens, text)
    assert [text[slice(*p)] for p in places[2:]] == tokens[2:]
    assert places[2] == (7, 11)


def test_words_are_those_of_split():
    text = "  two\n words\tand\u00a0more "
    assert [text[slice(*place)] for place in word_spans(text)] == text.split()


@pytest.mark.parametrize("seed", range(20))
def test_random_tokenisations(seed):
    """Cut a random text anywhere, change what tokenisers change, and find every piece at its place."""
    rng = np.random.default_rng(seed)
    text = "".join(rng.choice(list("abcdeé. ,“”-( "), 80)).strip() or "a"
    cuts = [0, *sorted(rng.choice(range(1, len(text)), min(len(text) - 1, 25), replace=False)), len(text)]
    places = [(a, b) for a, b in pairwise(cuts) if text[a:b].strip()]
    places = [(b - len(text[a:b].lstrip()), a + len(text[a:b].rstrip())) for a, b in places]
    change = str.maketrans({"“": '"', "”": "''", "(": "-LRB-", "é": "e\u0301"})
    tokens = [text[a:b].replace(" ", "").translate(change) for a, b in places]
    found = align_tokens(tokens, text)
    right = sum(f is not None and text[slice(*f)] == text[slice(*p)] for f, p in zip(found, places, strict=True))
    assert right == len(places)
