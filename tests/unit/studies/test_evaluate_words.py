"""What an evaluation says about odd questions: another target, one draw, nothing measured, everything right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import assay
from assay import Example, SpecError
from assay.studies.evaluate.reproduce import python_call
from assay.studies.evaluate.result import Result

TEXTS = {"a great film": "positive", "a dull film": "negative", "wonderful , really": "negative"}


@pytest.fixture(scope="module")
def model() -> Any:
    return assay.load_model("builtin")


def evaluated(model: Any, store: Path, metrics: str = "comprehensiveness", **more: Any) -> Result:
    data = [Example(text, label=label) for text, label in TEXTS.items()]
    return assay.evaluate(model, data, ["occlusion", "random"], metrics, store=store, progress=False, **more)


def test_the_gold_class_that_was_asked_for_needs_no_rationale_as_its_reason(model: Any, tmp_path: Path) -> None:
    remarks = evaluated(model, tmp_path, target="gold").remarks
    said = (
        "Every metric explains the gold class, as asked. Predicted and gold class differ on 1 of 3 labelled examples."
    )
    assert said in remarks
    assert "rationale" not in " ".join(remarks)


def test_without_a_margin_nothing_is_said_about_its_size(model: Any, tmp_path: Path) -> None:
    assert "at least 0" not in evaluated(model, tmp_path, margin=0).verdict
    assert "at least 0.01." in evaluated(model, tmp_path).verdict


@pytest.mark.parametrize(("draws", "written"), [(1, True), (3, True), (10, False)])
def test_the_call_on_the_page_asks_for_the_same_draws(model: Any, tmp_path: Path, draws: int, written: bool) -> None:
    call = python_call(evaluated(model, tmp_path, draws=draws).evaluation)
    assert (f"draws={draws}," in call) is written


def test_nothing_measured_is_said_everywhere(model: Any, tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="No example has a rationale"):
        result = evaluated(model, tmp_path, "auprc")
    for text in (result.to_markdown(), repr(result), result._repr_html_()):
        assert "No metric was computed." in text
    assert "No example has a rationale" in result.to_markdown()
    with pytest.raises(SpecError, match=r"no metric was computed\. No example has"):
        result.plot()


def test_all_right_on_few_examples_is_not_surely_perfect(model: Any, tmp_path: Path) -> None:
    data = [Example("a great film", label="positive"), Example("a dull film", label="negative")]
    result = assay.evaluate(model, data, "occlusion", "comprehensiveness", store=tmp_path, progress=False)
    accuracy = result.performance["accuracy"]
    assert (accuracy.value, accuracy.high) == (1.0, 1.0)
    assert accuracy.low == pytest.approx(1 / (1 + 1.959964**2 / 2), abs=1e-5), (
        "Wilson's interval of 2 of 2: n / (n + z^2)"
    )


def test_labels_in_another_order_are_suspected(model: Any, tmp_path: Path) -> None:
    """Files that count from the other end: 1 is negative there, positive for the model."""
    texts = {"a great film": 0, "a wonderful film": 0, "a dull film": 1, "an awful film": 1, "a bad film": 1}
    data = [Example(text, label=label) for text, label in texts.items()]
    with pytest.warns(UserWarning, match="right on 0 of 5 labelled examples, fewer than by guessing"):
        result = assay.evaluate(model, data, "occlusion", "comprehensiveness", store=tmp_path, progress=False)
    assert any("(negative, positive) do not mean" in warning for warning in result.warnings)
    right = [Example(example.text, label=1 - example.label) for example in data[:4]]
    result = assay.evaluate(model, [*right, data[4]], "occlusion", "comprehensiveness", store=tmp_path, progress=False)
    assert result.warnings == []
