"""Which class a metric explains, on data of the shape of ERASER, toxic spans and Reuters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay import Example, SpecError
from assay.core.types import Span
from assay.datasets.load import load_dataset
from assay.evaluation import METRICS
from assay.models.load import load_model
from assay.studies.evaluate.page import page
from assay.studies.evaluate.result import Result
from toys import bert

METHODS = ["occlusion", "gradient_x_input", "average_attention", "random"]
BOTH = ["comprehensiveness", "auprc"]


@pytest.fixture(scope="module")
def model() -> Any:
    return load_model("builtin")


def reviews(labels: bool = True) -> list[Example]:
    """Two words for the label and a rationale on them; in every third text the model believes the rest."""
    out = []
    for i in range(12):
        good = i % 2 == 0
        word, other = ("wonderful", "awful") if good else ("awful", "wonderful")
        rest = f" but {other} and {other} , so {other}" if i % 3 == 0 else f" i saw it {i} times"
        text = f"the film is {word} ." + rest
        start = text.index(word)
        marks = ((Span(0, start, start + len(word)),),)
        out.append(Example(text, label="positive" if good else "negative", rationales=marks))
        out[-1] = out[-1] if labels else Example(text, rationales=marks)
    return out


def evaluated(
    model: Any, data: Any, tmp_path: Path, methods: Any = METHODS, metrics: Any = BOTH, **more: Any
) -> Result:
    return assay.evaluate(model, data, methods, metrics, store=tmp_path, progress=False, **more)


def wrong(model: Any) -> list[int]:
    predicted = [a.label for a in assay.explain(model, [e.text for e in reviews()], "gradient")]
    return [i for i, (label, e) in enumerate(zip(predicted, reviews(), strict=True)) if label != e.label]


def test_rationales_are_compared_with_the_gold_class_and_masks_with_the_predicted(model: Any, tmp_path: Path) -> None:
    result, other = evaluated(model, reviews(), tmp_path), wrong(model)
    assert 2 <= len(other) <= 6
    auprc = METRICS.make("auprc")
    for method in METHODS[:2]:
        gold = [assay.explain(model, e.text, method, target=e.label) for e in reviews()]
        expected = [auprc.measure(a, e) for a, e in zip(gold, reviews(), strict=True)]
        assert result.evaluation.values["auprc"][method] == pytest.approx(expected)
    predicted = evaluated(model, reviews(), tmp_path, target="predicted")
    same = np.delete(np.arange(12), other)
    for metric, places in (("comprehensiveness", np.arange(12)), ("auprc", same)):
        for method in METHODS:
            ours, theirs = (r.evaluation.values[metric][method][places] for r in (result, predicted))
            assert ours == pytest.approx(theirs)
    assert (
        result.evaluation.values["auprc"]["occlusion"].mean() > predicted.evaluation.values["auprc"]["occlusion"].mean()
    )
    said = "auprc explains the gold class, because a rationale justifies the gold label; comprehensiveness explains the"
    assert any(said in r and f"differ on {len(other)} of 12" in r for r in result.remarks)
    assert {row["metric"]: row["explained"] for row in result.table()} == {
        "comprehensiveness": "predicted",
        "auprc": "gold",
    }
    assert "gold class" not in " ".join(predicted.remarks)


def test_only_where_the_classes_differ_is_anything_explained_anew(model: Any, tmp_path: Path) -> None:
    def passes(method: str, target: str) -> tuple[float, float]:
        before = model.passes.forwards, model.passes.backwards
        evaluated(model, reviews(), tmp_path / f"{method} {target}", [method], BOTH, target=target)
        return model.passes.forwards - before[0], model.passes.backwards - before[1]

    extra = {m: np.subtract(passes(m, "auto"), passes(m, "predicted")) for m in METHODS[:3]}
    assert extra["occlusion"].tolist() == [0, 0], "the same masks"
    assert extra["average_attention"].tolist() == [0, 0], "the same for every class"
    assert extra["gradient_x_input"][1] == len(wrong(model))


def test_without_rationales_nothing_changes_for_stored_records(model: Any) -> None:
    from assay.studies.evaluate.study import Evaluate

    data = load_dataset([Example(e.text, label=e.label) for e in reviews()])
    specs = [Evaluate(target=t).task(data, model).spec(model.identity, model) for t in ("auto", "predicted")]
    assert specs[0] == specs[1]
    assert Evaluate().task(load_dataset(reviews()), model).spec(model.identity, model)["target"] == "auto"


def test_a_gold_class_that_is_unknown_is_never_replaced(model: Any, tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="12 of 12 examples with rationales have no label.*--target predicted"):
        result = evaluated(model, reviews(labels=False), tmp_path)
    assert list(result.comparisons) == ["comprehensiveness"]
    with pytest.warns(UserWarning, match="12 of 12 examples with rationales have no label"):
        control = evaluated(model, reviews(labels=False), tmp_path, ["random"])
    assert list(control.comparisons) == ["comprehensiveness"], "nor for the further draws of random"
    with pytest.raises(SpecError, match="The gold class of 12 examples is unknown"):
        evaluated(model, reviews(labels=False), tmp_path, target="gold")


def toxic() -> list[dict[str, Any]]:
    """Character offsets, and only where the text is toxic."""
    rude = [{"text": f"you are an awful person {i}", "label": "toxic", "rationale": [[11, 16]]} for i in range(4)]
    return rude + [{"text": f"what a wonderful day {i}", "label": "fine", "rationale": []} for i in range(4)]


def test_labels_that_do_not_meet_give_no_performance_and_no_plausibility(model: Any, tmp_path: Path) -> None:
    with pytest.warns(
        UserWarning, match=r"labels of the data \(fine, toxic\) are not those of the model \(negative, po"
    ):
        result = evaluated(model, toxic(), tmp_path)
    assert result.performance == {}
    assert list(result.comparisons) == ["comprehensiveness"]
    assert any("label-map" in w for w in result.warnings)
    assert "label-map" in result.to_markdown()
    assert "1 of 2 measured" in page(result), "a metric that was asked for is not counted as if it were there"
    mapped = evaluated(model, toxic(), tmp_path, label_map={"toxic": "negative", "fine": "positive"})
    assert mapped.performance["accuracy"].value == 1
    assert mapped.comparisons["auprc"].n == 4, "only toxic texts have spans"
    assert mapped.warnings == []


def topics() -> list[Example]:
    """Two topics, and a model that always gives the same."""
    words = ("profit", "takeover")
    return [Example(f"the company said net {words[i % 2]} of {i} mln dlrs", label=i % 2) for i in range(12)]


def test_a_model_that_answers_one_class_for_all_ranks_nothing(tmp_path: Path) -> None:
    result = evaluated(bert(0), topics(), tmp_path, METHODS, ["comprehensiveness", "sufficiency"])
    assert result.overall.startswith("The model predicts `LABEL_1` for every text")
    assert all("not ranked" in result.sentence(metric) for metric in result.comparisons)
    assert "★" not in result.to_markdown()
    small = evaluated(bert(0), topics(), tmp_path, METHODS, ["comprehensiveness", "sufficiency"], margin=5.0)
    assert small.overall == (
        "The model predicts `LABEL_1` for every text, and the means of methods and random differ by less than 5 on "
        "every metric: nothing here is worth acting on."
    )


def test_one_class_is_right_where_the_data_have_no_other(tmp_path: Path) -> None:
    same = [Example(e.text, label=1) for e in topics()]
    result = evaluated(bert(0), same, tmp_path, METHODS, ["comprehensiveness"])
    assert "for every text" not in result.overall


def test_a_model_at_chance_ranks_nothing_and_a_good_one_does(model: Any, tmp_path: Path) -> None:
    texts = [f"the film is {'wonderful' if i % 2 else 'awful'} {i}" for i in range(32)]
    for shift, leads in ((0, False), (1, True)):  # labels in step with the words, or in fours
        labels = [(i // 2 if leads else i) % 2 for i in range(32)]
        data = [Example(text, label=["negative", "positive"][label]) for text, label in zip(texts, labels, strict=True)]
        result = evaluated(model, data, tmp_path, ["occlusion", "random"], ["comprehensiveness"])
        assert result.overall.startswith("The model is not clearly better than always answering `") == leads, shift


def test_a_single_method_gets_a_sentence_and_no_star(model: Any, tmp_path: Path) -> None:
    result = evaluated(model, reviews(), tmp_path, ["occlusion"], ["comprehensiveness"])
    assert result.overall.startswith("occlusion is the only method; add others")
    assert "★" not in result.to_markdown()


def test_methods_without_enough_samples_are_named_once_also_on_a_rerun(model: Any, tmp_path: Path) -> None:
    long = [Example("the film is wonderful " * 12, label="positive"), *reviews()[:3]]
    for _ in range(2):
        with pytest.warns(UserWarning, match="had 40 samples") as caught:
            result = evaluated(model, long, tmp_path, ["kernel_shap(samples=40)", "lime(samples=40)"], BOTH[:1])
        assert [str(w.message) for w in caught] == result.warnings
        assert result.warnings[0].startswith("kernel_shap had 40 samples for 48 units (1 of 4 inputs): too few")
        assert result.warnings[1].startswith("lime had 40 samples for 48 units (1 of 4 inputs): too few")
    assert page(result).count("kernel_shap had 40 samples for 48 units") == 1
