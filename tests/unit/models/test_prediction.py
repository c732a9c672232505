"""Model.predict gives the labels and probabilities of whatever explain takes, and explain gives the same ones."""

from __future__ import annotations

import numpy as np
import pandas
import pytest

import assay
from assay.models.model import Model
from families import model_of

TEXTS = ["a modest pleasure", "the film is bright and funny but never finds its way home again", "rain"]


@pytest.fixture(scope="module")
def bert() -> Model:
    return model_of("bert")


def test_one_input_and_several(bert: Model) -> None:
    one, several = bert.predict(TEXTS[0]), bert.predict(TEXTS)
    assert one.label == several[0].label == several.labels[0]
    assert one.probabilities == pytest.approx(several[0].probabilities, abs=1e-6)
    assert sum(one.probabilities.values()) == pytest.approx(1)
    assert list(one.probabilities) == list(bert.labels)
    assert one.probability == max(one.probabilities.values())
    assert repr(one) == f"<Prediction: {one.label!r}, probability {one.probability:.3f}>"
    assert bert.predict([]) == []


@pytest.mark.parametrize("method", ["occlusion", "integrated_gradients(steps=4)", "ensemble([occlusion, gradient])"])
def test_explain_says_the_same_without_another_pass(bert: Model, method: str) -> None:
    for predicted, a in zip(bert.predict(TEXTS), assay.explain(bert, TEXTS, method, target=0), strict=True):
        assert a.probabilities == pytest.approx(predicted.probabilities, abs=1e-6)
        assert a.prediction == predicted.label
    before = bert.passes.forwards
    assay.explain(bert, TEXTS[0], "gradient")
    assert bert.passes.forwards == before + 1


def test_takes_what_explain_takes(bert: Model) -> None:
    frame = pandas.DataFrame({"text": TEXTS, "id": ["x", "y", "z"]})
    found = bert.predict(frame)
    assert found.labels == bert.predict(TEXTS).labels
    table = found.to_pandas()
    assert table["example"].tolist() == ["x", "y", "z"]
    assert list(table.columns) == ["example", "label", *bert.labels]
    assert np.allclose(table[list(bert.labels)].sum(axis=1), 1)
    pair = ("the old sailor slept", "rain fell on the quiet village")
    assert bert.predict(pair).label == assay.explain(bert, pair, "random").prediction
    with pytest.raises(assay.InputError, match="input 1: the text is empty"):
        bert.predict(["fine", " "])


def test_regression_and_images() -> None:
    score = model_of("bert-regression")
    predicted, a = score.predict(TEXTS[0]), assay.explain(score, TEXTS[0], "gradient")
    assert predicted.probabilities is predicted.probability is None
    assert predicted.label == pytest.approx(a.prediction, abs=1e-5)
    assert a.probabilities is None
    assert repr(predicted).startswith("<Prediction: ")
    image = np.random.default_rng(0).integers(0, 255, (32, 32, 3)).astype(np.uint8)
    vit = model_of("vit")
    assert vit.predict(image).label == assay.explain(vit, image, "gradient").prediction


def test_labels_in_another_order_than_the_configuration_are_said():
    with pytest.warns(UserWarning, match="in another order than the model's configuration: negative, positive"):
        model = assay.load_model("builtin", labels=["positive", "negative"])
    assert model.labels == ("positive", "negative")
