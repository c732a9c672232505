"""explain: what comes back, what it costs, what is shared, and what a smaller memory changes (nothing)."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import assay
import toys
from assay import Attribution, Example
from assay.core.attributions import Attributions
from assay.core.spec import parse
from assay.explainers.perturbation.lime import Lime
from assay.models import hooks

TEXTS = ["a modest pleasure that accomplishes its goals", "the plot is thin", ("a sad film", "it is not good"), "bad"]


@pytest.fixture
def model():
    return toys.bert(seed=4)


def test_one_many_and_several_methods(model):
    assert isinstance(assay.explain(model, TEXTS[0]), Attribution)
    assert isinstance(assay.explain(model, TEXTS[2]), Attribution)
    many = assay.explain(model, TEXTS)
    assert isinstance(many, Attributions)
    assert [a.example_id for a in many] == ["0", "1", "2", "3"]
    several = assay.explain(model, TEXTS[0], ["occlusion", "lime(samples=30)", Lime(samples=29), parse("random")])
    assert list(several) == ["occlusion", "lime(samples=30)", "lime(samples=29)", "random"]
    assert isinstance(several["occlusion"], Attribution)
    listed = assay.explain(model, TEXTS, ["occlusion"])
    assert len(listed["occlusion"]) == 4
    assert assay.explain(model, []) == []


def test_what_an_attribution_knows(model):
    a = assay.explain(model, Example(TEXTS[0], id="mine", label=1), "lime(samples=30)")
    assert a.example_id == "mine"
    assert dict(a.method.params) == {"samples": 30, "kernel_width": 25.0, "ridge": 1.0, "seed": 0}
    assert a.scores.dtype == np.float32
    assert a.label == model.labels[a.target.label]
    assert a.target.scale == "probability"


def test_the_predicted_class_is_explained(model):
    for a, text in zip(assay.explain(model, TEXTS, "occlusion"), TEXTS, strict=True):
        pair = (text,) if isinstance(text, str) else text
        with torch.no_grad():
            logits = model.hf(**model.tokenizer(*pair, return_tensors="pt")).logits[0]
        assert a.target.label == int(logits.argmax())
        assert np.isclose(a.value_full, logits.softmax(-1).max().item(), atol=1e-6)


def test_targets_one_per_input(model):
    names = ["LABEL_0", 1, None, "1"]
    found = assay.explain(model, TEXTS, "occlusion", target=names)
    assert [a.target.label for a in found][:2] == [0, 1]
    assert found[3].target.label == 1
    for name, text, a in zip(names, TEXTS, found, strict=True):
        assert np.allclose(a.scores, assay.explain(model, text, "occlusion", target=name).scores, atol=1e-6)
    assert assay.explain(model, TEXTS[0], target=np.int64(1)).target.label == 1


def test_a_number_is_refused_where_labels_are_called_by_other_numbers(tmp_path):
    stars = assay.load_model((toys.bert_hf(seed=4, classes=3), toys.wordpiece()), labels=["1", "2", "3"])
    assert assay.explain(stars, "a film", "occlusion", target="2").target.label == 1
    assert assay.explain(stars, "a film", "occlusion", target=assay.Target(2)).label == "3"  # always an index
    for target in (2, np.int64(2), "0"):
        with pytest.raises(assay.TargetError, match=r"could be a name or an index, .* called 1, 2, 3; give the name"):
            assay.explain(stars, "a film", "occlusion", target=target)
    words = {"texts": ["a film"], "words": [["a", "film"]], "scores": [[0, 1]]}
    for label in (2, "0"):
        scores = {"mine": assay.Attributions.from_words(**words, label=label)}
        with pytest.raises(assay.AssayError, match="could be a name or an index"):
            assay.evaluate(
                stars, ["a film"], ["random"], ["sufficiency"], scores=scores, store=tmp_path, progress=False
            )


@pytest.mark.parametrize("method", ["lime(samples=30)", "smooth_grad(samples=3)", "gradient_shap(samples=3)", "random"])
def test_seeds_belong_to_the_text(model, method):
    """The same for a text alone, in a list, twice, in any order; another for another seed."""
    here, there = assay.explain(model, TEXTS, method), assay.explain(model, [*TEXTS[::-1], TEXTS[0]], method)
    for a, b in zip(here, there[:4][::-1], strict=True):
        assert np.allclose(a.scores, b.scores, atol=1e-5)
    assert np.allclose(there[4].scores, here[0].scores, atol=1e-5)
    other = assay.explain(model, TEXTS[0], method, seed=1)
    assert not np.allclose(other.scores, here[0].scores, atol=1e-5)


def test_methods_share_what_they_ask(model):
    found = assay.explain(model, TEXTS[1], ["occlusion", "occlusion()", "kernel_shap"])
    n = len(found["occlusion"])
    assert found["occlusion"].cost.forwards == n + 1
    assert found["occlusion()"].cost.forwards == 0
    assert found["kernel_shap"].cost.forwards == 2**n - n - 1
    assert found["kernel_shap"].value_empty is not None


@pytest.mark.parametrize(
    ("method", "forwards", "backwards"),
    [
        ("gradient", 1, 1),
        ("integrated_gradients(steps=5, rule=gauss_legendre)", 7, 5),
        ("integrated_gradients(steps=5)", 14, 5),
        ("smooth_grad(samples=4)", 5, 4),
        ("gradient_shap(samples=4)", 5, 4),
        ("deep_lift", 2, 1),
        ("average_attention", 1, 0),
        ("attention_x_gradient", 1, 1),
    ],
)
def test_cost_is_what_the_docstring_says(model, method, forwards, backwards):
    for a in assay.explain(model, TEXTS, method):
        assert (a.cost.forwards, a.cost.backwards) == (forwards, backwards)


METHODS = [
    "integrated_gradients(steps=6)",
    "gradient",
    "value_zeroing",
    "attention_x_gradient",
    "deep_lift",
    "lime(samples=20)",
]


@pytest.mark.parametrize("method", METHODS)
def test_out_of_memory_changes_no_score(model, method):
    """A model that fails above three sequences at once: batches are halved until they fit."""
    calm = assay.explain(model, TEXTS, method)
    logits, sizes = model.logits, []

    def tight(batch):
        sizes.append(len(batch))
        if len(batch) > 3:
            raise torch.OutOfMemoryError("out of memory")
        return logits(batch)

    model.logits = tight
    found = assay.explain(model, TEXTS, method)
    assert max(sizes) > 3
    assert sizes[-1] <= 3
    for a, b in zip(found, calm, strict=True):
        assert np.allclose(a.scores, b.scores, atol=1e-5)


def test_out_of_memory_on_one_sequence(model):
    model.logits = lambda batch: (_ for _ in ()).throw(torch.OutOfMemoryError("out of memory"))
    with pytest.raises(assay.ModelError, match="out of memory on a single sequence"):
        assay.explain(model, TEXTS)


def test_more_inputs_than_a_chunk_keep_their_order(model):
    texts = [f"a film {'is ' * (i % 7)}bad" for i in range(130)]
    found = assay.explain(model, texts, "gradient", batch_tokens=200)
    assert [a.example_id for a in found] == [str(i) for i in range(130)]
    for i in (0, 63, 64, 129):
        assert np.allclose(found[i].scores, assay.explain(model, texts[i], "gradient").scores, atol=1e-5)
    with pytest.raises(assay.InputError, match="input 100: the text is empty"):
        assay.explain(model, [*texts[:100], " ", *texts[101:]], "gradient")


def test_the_model_is_frozen_once_for_all_inputs(model, monkeypatch):
    """Freezing visits every module and parameter."""
    frozen, times = hooks.frozen, []
    monkeypatch.setattr(hooks, "frozen", lambda *parts: times.append(parts) or frozen(*parts))
    assay.explain(model, TEXTS, ["average_attention", "occlusion"])
    assert len(times) == 1
