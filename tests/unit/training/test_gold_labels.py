"""Gold labels as the model counts them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from assay import Example, SpecError
from assay.datasets.load import load_dataset
from assay.training.gold_labels import gold_label


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
