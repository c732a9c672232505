"""Columns guessed by name, and set by the user."""

from __future__ import annotations

import pytest

from assay import SpecError
from assay.datasets.columns import guess_columns
from assay.datasets.examples import as_example
from assay.datasets.load import load_dataset


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("text label id", {"text": "text", "label": "label", "id": "id"}),
        ("sentence label idx", {"text": "sentence", "label": "label", "id": "idx"}),
        ("premise hypothesis label", {"text": "premise", "text_pair": "hypothesis"}),
        ("question sentence label", {"text": "question", "text_pair": "sentence"}),
        ("question1 question2", {"text": "question1", "text_pair": "question2"}),
        ("context question answer", {"text": "context", "text_pair": "question", "label": "answer"}),
        ("source target score", {"text": "source", "text_pair": "target", "score": "score", "label": None}),
        ("text target", {"text": "text", "text_pair": None, "label": "target"}),
        ("text source target", {"text": "text", "text_pair": None, "label": "target"}),
        ("text text_pair", {"text": "text", "text_pair": "text_pair"}),
        ("text label score", {"label": "label", "score": None}),
        ("review rating", {"text": "review", "score": "rating"}),
        ("question answer", {"text": "question", "text_pair": None, "label": "answer"}),
        ("img label", {"text": None, "image": "img"}),
        ("text tokens rationale", {"tokens": "tokens", "rationale": "rationale"}),
        ("text rationale_tokens", {"rationale": "rationale_tokens"}),
        (
            "source target source_tokens target_tokens source_tags target_tags score",
            {
                "tokens": "source_tokens",
                "tokens_pair": "target_tokens",
                "rationale": "source_tags",
                "rationale_pair": "target_tags",
            },
        ),
        ("source target source_tags", {"rationale": None}),  # tags of unknown tokens
    ],
)
def test_guesses(names, expected):
    columns = guess_columns(names.split())
    assert {role: getattr(columns, role) for role in expected} == expected


@pytest.mark.parametrize(
    ("names", "given", "expected"),
    [
        ("a b c", {"text": "b", "label": "c"}, {"text": "b", "label": "c", "text_pair": None}),
        ("premise hypothesis", {"text": "hypothesis"}, {"text": "hypothesis", "text_pair": None}),
        ("text label score", {"score": "score"}, {"label": None, "score": "score"}),
        ("text label other", {"label": "other"}, {"label": "other", "score": None}),
        ("text rationale rationales", {"rationale": "rationale"}, {"rationale": "rationale", "rationales": None}),
        ("text rationale rationales", {"rationales": None}, {"rationale": "rationale", "rationales": None}),
        ("text label", {"label": None}, {"label": None}),
        ("sentence extra", {"text_pair": "extra"}, {"text": "sentence", "text_pair": "extra"}),
    ],
)
def test_the_user_goes_before_the_guess(names, given, expected):
    columns = guess_columns(names.split(), given)
    assert {role: getattr(columns, role) for role in expected} == expected


def test_wrong_roles_and_columns_name_the_right_ones():
    with pytest.raises(SpecError, match="unknown role 'txt'; did you mean 'text'"):
        guess_columns(["text"], {"txt": "text"})
    with pytest.raises(SpecError, match=r"no column 'reviews' for text; did you mean 'review'.*allowed: review, stars"):
        guess_columns(["review", "stars"], {"text": "reviews"})


@pytest.mark.parametrize(
    "row",
    [
        {"text": "a", "label": 1},
        {"sentence": "a", "idx": 7},
        {"premise": "a", "hypothesis": "b", "id": "p"},
        {"sentence1": "a", "sentence2": "b"},
        {"text": "a", "text_pair": "b"},
        {"sentence": "a", "sentence2": "b"},
        {"text": None, "review": "r"},
        {"question": "q"},
        {"content": "c"},
        {"question": "q", "sentence": "s"},
        {"story": "s", "question": "q", "answer": 1},
        {"tokens": ["a", "b"]},
    ],
)
def test_rows_in_memory_and_rows_of_files_are_read_alike(row):
    """explain(dicts) and load_dataset must agree."""
    explained, loaded = as_example(row, 0), load_dataset([row])[0]
    for field in ("text", "text_pair", "id", "label"):
        assert getattr(explained, field) == getattr(loaded, field)
