"""Fits beyond one text and two classes: pairs, regression, several classes, images, removals, two metrics."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

import assay
from assay.core.types import Example
from assay.fitting import aml as fitting
from assay.models.load import load_model
from families import model_of
from toys import bert, bert_hf, wordpiece

from .test_fit import FILLER, planted_texts

pytestmark = pytest.mark.filterwarnings("ignore:.*no validation split")
QUICK = "masks=8, epochs=30, learning_rate=5e-3, validate_every=30"  # the last: few held-out texts choose by chance


def mixed_texts(count, seed):
    """Texts of common words; "pleasure", "poem", both or none are planted, in turn."""
    rng, out = np.random.default_rng(seed), []
    words = [w for w in FILLER if w != "poem"]
    for i in range(count):
        text = list(rng.choice(words, size=int(rng.integers(4, 8))))
        for word in ((), ("pleasure",), ("poem",), ("pleasure", "poem"))[i % 4]:
            text.insert(int(rng.integers(0, len(text) + 1)), word)
        out.append(" ".join(text))
    return out


def trained(loss, read, outputs, steps=150):
    """A BERT of the toys trained on random batches; `read(step)` gives texts (or pairs) and gold values."""
    more = {"problem_type": "regression"} if outputs == 1 else {}
    hf = bert_hf(classes=outputs, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, **more)
    model = load_model((hf, wordpiece()), task="regression" if outputs == 1 else "classification")
    hf.train().requires_grad_(True)
    optimiser = torch.optim.AdamW(hf.parameters(), lr=2e-3)
    torch.manual_seed(0)
    for step in range(steps):
        texts, gold = read(step)
        given = list(zip(*texts, strict=True)) if isinstance(texts[0], tuple) else [texts]
        batch = wordpiece()(*map(list, given), padding=True, return_tensors="pt")
        value = loss(hf(**batch).logits, torch.tensor(gold))
        optimiser.zero_grad()
        value.backward()
        optimiser.step()
    hf.eval()
    model.weights_changed()
    return model


@pytest.mark.slow
def test_one_explainer_explains_several_classes_each_by_its_own_word():
    def read(step):
        texts = mixed_texts(16, step)
        both = np.random.default_rng(step).integers(1, 3, 16)
        gold = [[0, 1, 2, int(both[i])][i % 4] for i in range(16)]
        return texts, gold

    model = trained(torch.nn.functional.cross_entropy, read, 3)
    # the last checkpoint: the metric sees the predicted class alone and would choose an early one
    settings = "masks=8, epochs=60, learning_rate=5e-3, other_classes=0.5, validate_every=60"
    explainer = assay.fit(model, mixed_texts(120, 999), f"aml({settings})", progress=False)
    texts = [text for i, text in enumerate(mixed_texts(40, 1001)) if i % 4 == 3]  # both words
    first, second = (assay.explain(model, texts, explainer, target=label) for label in (1, 2))
    assert np.mean([a.top(1)[0][0] == "pleasure" for a in first]) >= 0.9
    assert np.mean([a.top(1)[0][0] == "poem" for a in second]) >= 0.9


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["shapley", "masking"])
def test_regression_finds_the_word_that_moves_the_output(objective):
    def read(step):
        texts = planted_texts(16, step)
        return texts, [[3.0 * ("pleasure" in text)] for text in texts]

    model = trained(torch.nn.functional.mse_loss, read, 1)
    epochs = QUICK if objective == "shapley" else "epochs=20, validate_every=20"
    explainer = assay.fit(model, planted_texts(80, 999), f"aml(objective={objective}, {epochs})", progress=False)
    assert explainer.card["task"] == "regression"
    assert explainer.card["spread"] > 0.5, "of the outputs, which are 0 and 3"
    texts = [text for text in planted_texts(30, 1001) if "pleasure" in text]
    found = assay.explain(model, texts, explainer)
    assert np.mean([a.top(1)[0][0] == "pleasure" for a in found]) >= 0.9


@pytest.mark.slow
def test_pairs_are_explained_in_both_texts():
    def read(step):
        first, second = planted_texts(16, step), planted_texts(16, step + 7777)
        second = [second[i] for i in np.random.default_rng(step).permutation(16)]  # with or without, whatever the first
        return list(zip(first, second, strict=True)), [int("pleasure" in text) for text in second]

    model = trained(torch.nn.functional.cross_entropy, read, 2, steps=250)
    pairs, _ = [[Example(text=a, text_pair=b) for a, b in read(step)[0]] for step in (900, 901)]
    pairs += [Example(text=a, text_pair=b) for step in range(902, 907) for a, b in read(step)[0]]
    explainer = assay.fit(model, pairs, f"aml({QUICK})", progress=False)
    test = [Example(text=f"{a} pleasure", text_pair=b) for a, b in read(1002)[0] if "pleasure" in b]
    found = assay.explain(model, test, explainer)
    assert {unit.segment for unit in found[0].units} == {0, 1}
    tops = [a.units[int(a.scores.argmax())] for a in found]
    assert np.mean([top.text == "pleasure" and top.segment == 1 for top in tops]) >= 0.9


def test_images_are_explained_by_their_patches():
    model = model_of("vit")
    rng = np.random.default_rng(0)
    images = [Example(image=rng.integers(0, 255, (16, 16, 3), dtype=np.uint8)) for _ in range(24)]
    explainer = assay.fit(model, images, "aml(epochs=1, masks=2)", progress=False)
    (found,) = assay.explain(model, images[:1], explainer, units="patch")
    assert len(found.scores) > 1
    assert np.isfinite(found.scores).all()
    with pytest.raises(assay.UnsupportedError, match="architecture=trunk for images"):
        assay.fit(model, images, "aml(architecture=encoder, epochs=1)", progress=False)


@pytest.mark.parametrize("spec", ["removal=delete", "removal=pad", "removal=zero", "objective=masking, removal=unk"])
def test_another_removal_is_the_reference(spec):
    explainer = assay.fit(bert(), planted_texts(26), f"aml(epochs=1, masks=2, {spec})", progress=False)
    assert explainer.card["removal"] == spec.split("=")[-1]


def test_the_value_of_a_difference_is_that_of_an_evaluation(tmp_path):
    """The score that chooses the checkpoint against the two metrics as `evaluate` computes them, on the same texts."""
    model, texts, held_out = bert(), planted_texts(26), planted_texts(6, 3)
    settings = "metric='comprehensiveness - sufficiency', epochs=1, masks=2"
    data = tmp_path / "data"
    data.mkdir()
    for split, given in (("train", texts), ("dev", held_out)):
        (data / f"{split}.jsonl").write_text("\n".join(json.dumps({"text": text}) for text in given))
    explainer = assay.fit(model, data, f"aml({settings})", progress=False)
    assert explainer.card["metric"] == "comprehensiveness - sufficiency"
    metrics = ["comprehensiveness", "sufficiency"]
    with pytest.warns(UserWarning, match="fitted on 6 of these 6 examples"):
        result = assay.evaluate(model, held_out, [explainer], metrics, store=tmp_path / "store", progress=False)
    means = {name: float(np.mean(values["aml(in_memory)"])) for name, values in result.evaluation.values.items()}
    expected = means["comprehensiveness"] - means["sufficiency"]
    assert explainer.card["validation"]["best"] == pytest.approx(expected, abs=1e-6)


def test_an_explainer_on_another_model_is_used_only_when_asked_for(tmp_path):
    """The same architecture, another training; with an encoder, another width too."""
    texts, new, metrics = planted_texts(26), planted_texts(2, 3), ["comprehensiveness"]
    mine, other, smaller = bert(), bert(seed=5), load_model((bert_hf(seed=6, layers=1), wordpiece()))
    trunk = assay.fit(mine, texts, "aml(epochs=1, masks=2)", progress=False)
    encoder = assay.fit(mine, texts, "aml(architecture=encoder, epochs=1, masks=2)", progress=False)
    for explainer, model in ((trunk, other), (encoder, other), (encoder, smaller)):
        with pytest.raises(assay.ModelError, match="is another model"):
            assay.evaluate(model, new, [explainer], metrics, store=tmp_path, progress=False)
        crossed = replace(explainer, any_model=True)
        result = assay.evaluate(model, new, [crossed], metrics, store=tmp_path, progress=False)
        assert list(result.evaluation.methods) == ["aml(in_memory, any_model=True)"], "the table says that it was"
    with pytest.raises(assay.UnsupportedError, match="architecture=encoder, which any model can use"):
        assay.explain(smaller, texts[0], replace(trunk, any_model=True))


def test_a_step_that_is_not_finite_is_named_and_the_best_before_it_is_kept(tmp_path, monkeypatch):
    real, calls = fitting.Objectives.__call__, []

    def broken(self, attributor, batch):
        calls.append(1)
        loss = real(self, attributor, batch)
        return loss if len(calls) < 6 else loss * torch.nan

    monkeypatch.setattr(fitting.Objectives, "__call__", broken)
    model, texts = bert(), planted_texts(44)
    spec = "aml(epochs=5, masks=2, validate_every=1)"
    words = r"the loss is nan at step 6 of 10; lower the learning rate .* of step [24], is in .*last_good"
    with pytest.raises(assay.ModelError, match=words):
        assay.fit(model, texts, spec, tmp_path / "e", progress=False)
    kept = assay.load_explainer(tmp_path / "e" / "last_good")
    assert len(kept.card["curve"]) == 2
    assert np.isfinite(assay.explain(model, texts[0], kept).scores).all()
    with pytest.raises(assay.ModelError, match=r"it has no explainer\.json"):
        assay.load_explainer(tmp_path / "e")
    monkeypatch.undo()
    assay.fit(model, texts, "aml(epochs=1, masks=2)", tmp_path / "e", overwrite=True, progress=False)
