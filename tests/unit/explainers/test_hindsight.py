"""Refined masks: batched, and marked wherever the metric itself chose among the steps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

import assay
from assay.core.errors import SpecError
from assay.explainers import METHODS
from assay.faithfulness.criterion import criterion_of
from assay.fitting.methods.aml import AmlFit
from toys import bert

TEXTS = ["the film is good and the plot is bad", "a modest pleasure", "not sad", "the acting is slow"]
pytestmark = pytest.mark.filterwarnings("ignore:.*no validation split", "ignore:.*no better than")


@pytest.fixture(scope="module", params=["trunk", "encoder"])
def fitted(request):
    model = bert(classes=3)
    model.hf.double()
    texts = [f"{a} {b}" for a in TEXTS for b in TEXTS] * 2
    settings = {"objective": "masking", "architecture": request.param, "epochs": 1, "progress": False}
    return model, assay.fit(model, texts, **settings)


@pytest.mark.parametrize("tune", ["logits", "head", "all"])
def test_batched_is_one_by_one(fitted, tune, monkeypatch):
    """Also where only two texts fit at once; the fitted weights stay as they were."""
    model, explainer = fitted
    before = {name: tensor.clone() for name, tensor in explainer.loaded.attributor.state_dict().items()}
    refined = replace(explainer, steps=3, tune=tune, rate=1e-2)
    together = assay.explain(model, TEXTS, refined, progress=False)
    alone = [assay.explain(model, text, refined, progress=False) for text in TEXTS]
    plain = assay.explain(model, TEXTS, explainer, progress=False)
    for a, b, c in zip(together, alone, plain, strict=True):
        assert np.allclose(a.scores, b.scores, atol=1e-6)
        assert np.abs(a.scores - c.scores).max() > 1e-4
    size = sum(p.numel() for p in explainer.loaded.attributor.parameters())
    monkeypatch.setattr("assay.explainers.learned.parts.refine.TUNED_WEIGHTS", 2 * size)
    for a, b in zip(assay.explain(model, TEXTS, refined, progress=False), together, strict=True):
        assert np.allclose(a.scores, b.scores, atol=1e-6)
    after = explainer.loaded.attributor.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)


@pytest.mark.filterwarnings("ignore:.*in hindsight")
@pytest.mark.parametrize("method", ["mask_optimisation(steps=4", "mask_optimisation(steps=4, tune=noise"])
def test_an_oracle_is_never_worse_than_any_of_its_steps(method):
    model, metric = bert(classes=3), criterion_of("comprehensiveness")
    best = assay.explain(model, TEXTS, f"{method}, selection=oracle)", progress=False)
    assert all(a.extra["chosen_by"] == "comprehensiveness, in hindsight" for a in best)
    assert len({a.extra["step"] for a in best}) > 1
    if "noise" in method:
        return
    names = ("mask_optimisation(steps=4, selection=oracle)", "mask_optimisation(steps=4)")
    result = assay.evaluate(model, TEXTS, methods=list(names), metrics=["comprehensiveness"], progress=False)
    chosen, last = (result.evaluation.values["comprehensiveness"][name] for name in names)
    assert metric.better == "higher"
    assert (chosen >= last - 1e-6).all()


def test_an_evaluation_says_which_methods_chose_in_hindsight(tmp_path):
    spec = "mask_optimisation(steps=2, selection=oracle)"
    with pytest.warns(UserWarning, match=r"keeps for each text the explanation that is best by comprehensiveness"):
        result = assay.evaluate(
            bert(), TEXTS, methods=[spec, "mask_optimisation(steps=2)"], metrics=["comprehensiveness"], progress=False
        )
    result.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert page.count("chosen by comprehensiveness") >= 1
    assert sum("in hindsight" in warning for warning in result.warnings) == 1


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("mask_optimisation(preservation=0, inverse=0)", "would learn nothing"),
        ("mask_optimisation(baseline=delete)", "give masking=hard too"),
        ("mask_optimisation(tune=noise)", "control of selection=oracle"),
    ],
)
def test_mistakes(spec, words):
    with pytest.raises(SpecError, match=words):
        METHODS.make(spec)


def test_mistakes_in_a_fit():
    with pytest.raises(SpecError, match="learned_reference is what masks blend with"):
        AmlFit(learned_reference=True, objective="shapley")
    with pytest.raises(SpecError, match="or masking=hard"):
        assay.fit(bert(), TEXTS * 6, objective="masking", removal="delete", progress=False)


@pytest.mark.parametrize("settings", [{"learned_reference": True}, {"masking": "hard", "removal": "delete"}])
def test_other_references_can_be_fitted_and_saved(settings, tmp_path):
    model = bert(classes=3)
    explainer = assay.fit(model, TEXTS * 8, objective="masking", epochs=1, progress=False, **settings)
    saved = explainer.save_pretrained(tmp_path / "explainer")
    for spec in ({}, {"steps": 2}):
        a, b = (assay.explain(model, TEXTS[0], replace(e, **spec), progress=False) for e in (explainer, saved))
        assert np.array_equal(a.scores, b.scores)
    learned = saved.loaded.attributor.reference
    assert (learned is not None) == ("learned_reference" in settings)
