"""Every way to write a rationale, by hand: the spans cut the words that were meant."""

from __future__ import annotations

import json

import numpy as np
import pytest

from assay import DataWarning, InputError
from assay.core.types import Span
from assay.datasets.load import load_dataset

TEXT = "a truly fine film, truly"


def marked(row, **columns):
    """The words that each annotator marked, as (segment, word)."""
    (example,) = load_dataset([row], columns=columns or None)
    texts = example.text, example.text_pair
    return [[(s.segment, texts[s.segment][s.start : s.end]) for s in spans] for spans in example.rationales]


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"rationale": [[8, 12], [13, 17]]}, [["fine", "film"]]),
        ({"rationale": [[13, 17], [8, 12], [3, 3]]}, [["fine", "film"]]),  # in order; empty spans of ERASER dropped
        ({"rationale": [0, 0, 1, 1, 0]}, [["fine", "film,"]]),  # words between blanks
        ({"rationale": [2, 4]}, [["fine", "truly"]]),
        ({"rationale": [True, False, False, False, False]}, [["a"]]),
        (
            {"tokens": ["a", "truly", "fine", "film", ",", "truly"], "rationale": [0, 0, 0, 1, 1, 1]},
            [["film", ",", "truly"]],
        ),
        ({"tokens": ["a", "truly", "fine", "film", ",", "truly"], "rationale": [5]}, [["truly"]]),
        ({"rationale_tokens": [[1, 3], [4, 5]]}, [["truly fine", "truly"]]),
        ({"rationales": [[[8, 12]], [[2, 7], [8, 12]]]}, [["fine"], ["truly", "fine"]]),
        ({"rationales": [[0, 0, 1, 0, 0], [0, 0, 0, 0, 0], [1, 0, 0, 0, 0]]}, [["fine"], [], ["a"]]),
        ({"rationales": [[2], [0, 1]]}, [["fine"], ["a", "truly"]]),
        ({"rationales": [[2], None]}, [["fine"], []]),
        ({"rationales": [], "rationale": [0, 0, 0, 0, 0]}, []),
        ({"rationales": None, "rationale": [2]}, [["fine"]]),
        ({"rationale": []}, []),
        ({"rationale": None}, []),
        ({"rationale": [0, 0, 0, 0, 0]}, []),
        ({"rationale": {"text": [[8, 12]]}}, [["fine"]]),
        ({"rationale": "because it is fine"}, []),  # prose is an explanation, not a rationale
        ({"rationale": np.array([0, 0, 1, 0, 0])}, [["fine"]]),
    ],
    ids=str,
)
def test_of_a_text(row, words):
    assert marked({"text": TEXT, **row}) == [[(0, word) for word in annotator] for annotator in words]
    if not isinstance(row.get("rationale"), np.ndarray):  # the same as cells of a CSV file
        cells = {key: value if isinstance(value, str | None) else json.dumps(value) for key, value in row.items()}
        assert marked({"text": TEXT, **cells}) == [[(0, word) for word in annotator] for annotator in words]


def test_prose_stays_in_meta():
    (example,) = load_dataset([{"text": TEXT, "rationale": "because"}])
    assert example.meta == {"rationale": "because"}


def test_the_right_one_of_two_like_words():
    (example,) = load_dataset([{"text": TEXT, "tokens": TEXT.split(), "rationale": [4]}])
    assert example.rationales == ((Span(0, 19, 24),),)


PAIR = {"premise": "Two women embrace", "hypothesis": "The sisters hug"}


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"rationale": {"premise": [[4, 9]], "hypothesis": [[4, 11]]}}, [[(0, "women"), (1, "sisters")]]),
        ({"rationale": {"text_pair": [2]}}, [[(1, "hug")]]),
        ({"rationale": [[4, 9]]}, [[(0, "women")]]),
        (
            {"rationales": [{"premise": [], "hypothesis": [[4, 11]]}, {"premise": [[0, 3]], "hypothesis": []}]},
            [[(1, "sisters")], [(0, "Two")]],
        ),
        ({"premise_rationale": [1], "hypothesis_rationale": [0, 0, 1]}, [[(0, "women"), (1, "hug")]]),
        (
            {
                "premise_tokens": ["Two", "women", "embrace"],
                "premise_tags": [0, 0, 1],
                "hypothesis_tokens": ["The", "sis", "ters", "hug"],
                "hypothesis_tags": [0, 1, 0, 1],
            },
            [[(0, "embrace"), (1, "sis"), (1, "hug")]],
        ),
    ],
    ids=str,
)
def test_of_a_pair(row, words):
    assert marked({**PAIR, **row}) == words


def test_of_one_text_of_a_pair():
    row = {**PAIR, "rationale": {"premise": [[4, 9]], "hypothesis": [[4, 11]]}}
    assert marked(row, text="hypothesis") == [[(0, "sisters")]]


ERASER = {"document": "It is old . The film won .", "query": "Did the film win || yes it did win"}
EVIDENCES = [
    [{"docid": "d", "text": "The film won .", "start_token": 4, "end_token": 8}],
    [{"start_token": 0, "end_token": 2}],
]


def test_evidences_of_eraser():
    """All groups of evidence, in tokens of the document, whichever text comes first."""
    row = {**ERASER, "evidences": EVIDENCES}
    assert marked(row) == [[(0, "It is"), (0, "The film won .")]]
    swapped = load_dataset([row], columns={"text": "query", "text_pair": "document"})[0]
    assert [swapped.text_pair[s.start : s.end] for s in swapped.rationales[0]] == ["It is", "The film won ."]
    assert {span.segment for span in swapped.rationales[0]} == {1}


@pytest.mark.parametrize(
    "rationale",
    [
        {"rationale": [[16, 20]]},
        {"rationale": [5]},
        {"rationale": {"document": [[16, 20]]}},
        {"rationales": [[5]]},
        {"spans": list(range(16, 20))},
        {"spans": [{"start": 16, "end": 20, "probability": 0.7}]},
        {"rationale_tokens": [[5, 6]]},
    ],
    ids=str,
)
def test_a_rationale_stays_with_its_text(rationale):
    """The order of document and query is a guess: the user who swaps them still has rationales of the document."""
    row = {**ERASER, **rationale}
    (plain,) = load_dataset([row], columns={"text": "document", "text_pair": "query"})
    (swapped,) = load_dataset([row], columns={"text": "query", "text_pair": "document"})
    assert plain.rationales == ((Span(0, 16, 20),),)
    assert swapped.rationales == ((Span(1, 16, 20),),)
    (off,) = load_dataset(
        [row], columns={"text": "query", "text_pair": "document", "rationale": None, "rationales": None}
    )
    assert off.rationales == ()


def test_a_rationale_of_the_text_that_is_not_read():
    row = {**PAIR, "rationale": [[4, 9]]}
    with pytest.warns(
        DataWarning, match="'rationale' are not used: they mark 'premise', but only 'hypothesis' is read"
    ):
        (example,) = load_dataset([row], columns={"text": "hypothesis"})
    assert example.rationales == ()


def test_tokens_without_a_text_make_one():
    row = {"tokens": ["a", "fine", "film"], "rationale": [0, 1, 0]}
    (example,) = load_dataset([row])
    assert example.text == "a fine film"
    assert marked(row) == [[(0, "fine")]]


def test_annotators_who_disagree_with_the_label_are_left_out():
    rows = [
        {"text": "good bad", "label": "pos", "rationales": [[0], [1], [0]], "annotator_labels": ["pos", "neg", "pos"]},
        {"text": "bad good", "label": "neg", "rationales": [[1], [0], [0]], "annotator_labels": ["pos", "neg", "neg"]},
    ]
    data = load_dataset(rows)
    assert [[e.text[s.start : s.end] for (s,) in e.rationales] for e in data] == [["good", "good"], ["bad", "bad"]]
    assert data[0].meta["annotator_labels"] == ["pos", "neg", "pos"]
    rows[1]["annotator_labels"] = ["pos", "neg"]  # not a label per rationale: nothing can be left out
    assert [len(e.rationales) for e in load_dataset(rows)] == [3, 3]


def test_a_column_named_by_the_user():
    row = {"text": TEXT, "rationale": [[0, 1]], "exhaustive": [[2, 12]]}
    assert marked(row, rationale="exhaustive") == [[(0, "truly fine")]]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"rationale": [[3, 99]]}, r"row 1: the rationale refers to characters \[3, 99\), but the text has 24"),
        ({"rationale": [[9, 3]]}, r"characters \[9, 3\)"),
        ({"rationale": [0, 1, 0, 0]}, "has 4 marks .0/1., but there are 5"),
        ({"rationale": [7]}, "refers to token 7, but there are 5 tokens"),
        ({"rationale": [-1]}, "refers to token -1"),
        ({"rationale": [0.5, 0.2, 0, 0, 0]}, r"cannot read the rationale \[0.5, 0.2, 0\].*give \[start, end\]"),
        ({"rationale_tokens": [[3, 9]]}, r"tokens \[3, 9\), but there are 5"),
        ({"rationale": {"premise": [[0, 1]]}}, "keys premise; use the names of the texts: text"),
        ({"rationale": [{"start": 2, "end": 7, "text": "fine"}]}, "quotes 'fine', but its offsets mark 'truly'"),
        (
            {
                "evidences": [
                    [{"docid": "a", "start_token": 0, "end_token": 1}, {"docid": "b", "start_token": 0, "end_token": 1}]
                ]
            },
            r"marks 2 documents \(a, b\)",
        ),
        ({"evidences": [{"start_token": None, "end_token": 3}]}, r"cannot read the place \[None, 3\]"),
        ({"rationales": 3}, "rationales must be a list .* not int"),
        ({"rationale": 3}, "a rationale must be a list .* not int"),
    ],
    ids=str,
)
def test_bad_rationales_end_in_a_sentence(row, message):
    with pytest.raises(InputError, match=message):
        load_dataset([{"text": TEXT, **row}])


def test_prose_is_refused_where_the_user_asked_for_it():
    with pytest.raises(InputError, match=r"a rationale must be a list .* not str"):
        load_dataset([{"text": TEXT, "why": "because"}], columns={"rationale": "why"})
