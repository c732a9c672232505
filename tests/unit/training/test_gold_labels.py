"""Gold labels as the model counts them."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from assay import Example, SpecError
from assay.datasets.label_map import with_label_map
from assay.datasets.load import load_dataset
from assay.training.gold_labels import GoldLabels, gold_label, gold_labels


def model(*labels: str, task: str = "classification") -> Any:
    return SimpleNamespace(labels=labels, task=task)


@pytest.mark.parametrize(
    ("data_labels", "model_labels", "expected"),
    [
        (["pos", "neg"], ("neg", "pos"), [1, 0]),
        (["Pos", "NEG"], ("neg", "pos"), [1, 0]),  # ignoring case
        (["us", "US"], ("us", "US"), [0, 1]),  # exact names first
        ([1, 0], ("neg", "pos"), [1, 0]),  # unnamed classes: by index
        (["calm", "pos"], ("neg", "pos"), [None, 1]),  # unknown to the model
        (["pos", None], ("neg", "pos"), [1, None]),
    ],
)
def test_classes(data_labels: list[Any], model_labels: tuple[str, ...], expected: list[Any]) -> None:
    data = load_dataset([{"text": "a", "label": label} for label in data_labels])
    assert [gold_label(example, data, model(*model_labels)) for example in data] == expected


def test_scores() -> None:
    data = load_dataset([{"text": "a", "score": 0.5}])
    assert gold_label(data[0], data, model("score", task="regression")) == 0.5
    with pytest.raises(SpecError, match="'high' is not a number"):
        gold_label(Example("a", label="high"), data, model("score", task="regression"))


def found(values: Sequence[Any], *names: str, task: str = "classification") -> GoldLabels:
    return gold_labels(
        load_dataset([{"text": str(i), "label": v} for i, v in enumerate(values)]), model(*names, task=task)
    )


def test_one_label_that_the_model_lacks_and_none_is_used() -> None:
    """DynaSent and a sentiment model: `neutral` alone would give an accuracy of its own."""
    gold = found(["pos", "neg", "neutral", "neutral"], "negative", "neutral", "positive")
    assert gold.values == (None,) * 4
    assert (
        "labels of the data (neg, neutral, pos) are not those of the model (negative, neutral, positive)"
        in gold.warning
    )
    assert "2 of 4 examples" in gold.warning
    assert '--label-map "neg=...,pos=..."' in gold.warning


def test_the_advice_also_leaves_a_label_out() -> None:
    """DynaSent: four labels, of which a sentiment model knows two."""
    rows = [{"text": label, "label": label} for label in ("positive", "negative", "neutral", "mixed")]
    data, known = load_dataset(rows), model("negative", "positive")
    warning = gold_labels(data, known).warning
    assert '--label-map "mixed=...,neutral=..."' in warning
    assert warning.endswith('"mixed=" leaves the examples of a label unlabelled.')
    assert gold_labels(with_label_map(data, "mixed=,neutral="), known).values == (1, 0, None, None)


def test_names_meet_whatever_their_case_and_without_a_word() -> None:
    assert found(["POSITIVE", "negative", None], "negative", "positive") == GoldLabels((1, 0, None))
    assert found(["1", "0"], "0", "1") == GoldLabels((1, 0))


@pytest.mark.parametrize("names", [("LABEL_0", "LABEL_1"), ("negative", "positive")])
def test_numbers_are_positions_and_that_is_said(names: tuple[str, str]) -> None:
    gold = found([1, 0, 1], *names)
    assert gold.values == (1, 0, 1)
    assert gold.warning == ""
    assert f"0 = {names[0]}, 1 = {names[1]}" in gold.note


def test_stars_from_one_to_five_are_not_positions() -> None:
    assert found([1, 5, 3], "one", "two", "three", "four", "five").warning
    assert found(["good", "bad"], "LABEL_0", "LABEL_1").warning, "generic names say nothing about words"
    assert found([0.5, 1.7], "negative", "positive").warning, "a score is not a class"
    assert "the labels of the data are words" in found(["low", "high"], "score", task="regression").warning


def test_where_classes_are_called_by_numbers_a_number_is_a_name() -> None:
    """0 to 4 are not the stars 1 to 5: 1 to 4 would be right names of the wrong classes, and 0 and 1 the same class."""
    assert found([1, 3, 2], "1", "2", "3").values == (0, 2, 1)
    gold = found([0, 1, 2], "1", "2", "3")
    assert gold.values == (None, None, None)
    assert "the model lacks the label of 1 of 3 examples" in gold.warning
