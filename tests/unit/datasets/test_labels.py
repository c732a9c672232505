"""What the labels are decides the task."""

from __future__ import annotations

import numpy as np
import pytest

from assay import InputError
from assay.datasets.load import load_dataset


@pytest.mark.parametrize(
    ("values", "labels", "names", "task"),
    [
        (["pos", "neg", "pos"], ["pos", "neg", "pos"], ("neg", "pos"), "classification"),
        ([1, 0, 2], [1, 0, 2], ("0", "1", "2"), "classification"),
        ([True, False], [1, 0], ("0", "1"), "classification"),
        (["1", "0", " 2"], [1, 0, 2], ("0", "1", "2"), "classification"),  # cells of a CSV file
        ([np.int64(1), np.int64(0)], [1, 0], ("0", "1"), "classification"),
        ([0, 2], [0, 2], ("0", "1", "2"), "classification"),
        ([-1, 1], ["-1", "1"], ("-1", "1"), "classification"),  # an index is never below 0
        ([1, 5000, 7], ["1", "5000", "7"], ("1", "5000", "7"), "classification"),
        (["1", "x"], ["1", "x"], ("1", "x"), "classification"),
        (["pos", None, "", "-"], ["pos", None, None, None], ("pos",), "classification"),
        ([None, None], [None, None], None, "classification"),
        ([0.5, 1.0], [0.5, 1.0], None, "regression"),
        (["0.5", "1", "-2e-1"], [0.5, 1.0, -0.2], None, "regression"),
        ([2.0, None], [2, None], ("0", "1", "2"), "classification"),  # pandas writes 2 beside a missing value so
        (["1.0", "0.0"], [1, 0], ("0", "1"), "classification"),
        (["01", "02"], ["01", "02"], ("01", "02"), "classification"),
        ([" yes", "no "], ["yes", "no"], ("no", "yes"), "classification"),
    ],
    ids=str,
)
def test_labels(values, labels, names, task):
    data = load_dataset([{"text": "a", "label": value} for value in values])
    assert [e.label for e in data] == labels
    assert [type(e.label) for e in data] == [type(label) for label in labels]
    assert (data.labels, data.task) == (names, task)


def test_scores():
    data = load_dataset([{"text": "a", "score": 1}, {"text": "b", "score": "2"}])
    assert ([e.label for e in data], data.task, data.labels) == ([1.0, 2.0], "regression", None)
    both = [{"text": "a", "label": "x", "score": 0.5}]
    assert load_dataset(both).task == "classification"
    assert load_dataset(both, columns={"score": "score"})[0].label == 0.5


def test_names_beside_the_numbers():
    rows = [{"text": "a", "label": 1, "label_text": "positive"}, {"text": "b", "label": 0, "label_text": "negative"}]
    assert load_dataset(rows).labels == ("negative", "positive")
    assert load_dataset(rows[:1]).labels == ("0", "positive")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"label": {"a": 1}}, "row 1: unsupported label type dict"),
        ({"label": [0, 1]}, r"row 1: there are 2 labels \(0, 1\); keep one, or leave the row out"),
        ({"score": "high"}, "row 1: the score 'high' is not a number"),
        ({"score": float("inf")}, "the label is inf"),
        ({"label": float("nan")}, "row 1: the label is nan; give a name, an index or a score, or leave it empty"),
        ({"score": "9" * 400}, "the score is inf"),
        ({"label": 10**5000}, "the label is larger than 1e[+]300"),
    ],
)
def test_bad_labels(row, message):
    with pytest.raises(InputError, match=message):
        load_dataset([{"text": "a", **row}])
