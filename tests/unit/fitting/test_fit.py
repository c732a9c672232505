"""assay.fit: what is learnt, what is saved, resuming, refining, and bad input."""

from __future__ import annotations

import json
import shutil
import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import ByT5Tokenizer

import assay
from assay.core.spec import Spec
from assay.explainers import METHODS
from assay.explainers.learned.parts import folder as folders
from assay.faithfulness.criterion import criterion_of
from assay.fitting import aml as fitting
from assay.fitting.methods.aml import AmlFit
from assay.fitting.search import _ShortFit
from assay.fitting.source import WEIGHTS
from assay.fitting.texts import fit_texts
from assay.fitting.validation import Validation
from assay.models.load import load_model
from toys import bert, bert_hf, byte_bpe, gpt2, gpt2_hf, wordpiece

pytestmark = pytest.mark.filterwarnings("ignore:.*no validation split")

FILLER = ["the", "film", "is", "a", "slow", "sad", "poem", "with", "acting", "and", "plot", "that", "i", "like"]


def planted_texts(count=80, seed=0):
    """Texts of common words, half of them with the word that decides."""
    rng = np.random.default_rng(seed)
    out = []
    for i in range(count):
        words = list(rng.choice(FILLER, size=int(rng.integers(4, 9))))
        if i % 2:
            words.insert(int(rng.integers(0, len(words) + 1)), "pleasure")
        out.append(" ".join(words))
    return out


def planted_model():
    """A BERT whose class is 1 if the word "pleasure" occurs, trained on texts of the same kind."""
    texts = planted_texts(400, 1)
    hf = bert_hf(classes=2, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    model = load_model((hf, wordpiece()))
    hf.train().requires_grad_(True)
    optimiser = torch.optim.AdamW(hf.parameters(), lr=2e-3)
    torch.manual_seed(0)
    for step in range(120):
        part = [texts[(step * 16 + k) % len(texts)] for k in range(16)]
        read = wordpiece()(part, padding=True, return_tensors="pt")
        gold = torch.tensor([int("pleasure" in text) for text in part])
        loss = torch.nn.functional.cross_entropy(hf(**read).logits, gold)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    hf.eval()
    model.weights_changed()
    return model


@pytest.fixture(scope="module")
def planted():
    return planted_model()


@pytest.fixture(scope="module")
def tiny():
    """A quick fit to a random model, shared by tests that only need some explainer."""
    model = bert(classes=3)
    return model, assay.fit(model, planted_texts(30), "aml(epochs=2, masks=4)", progress=False)


@pytest.mark.parametrize(
    "spec",
    [
        "aml(masks=8, epochs=20, learning_rate=3e-3)",
        "aml(objective=shapley, masks=8, epochs=20, learning_rate=3e-3)",
        "aml(objective=masking, epochs=8)",
        "aml(objective=both, masks=8, epochs=8)",
        "aml(architecture=encoder, masks=8, epochs=12, batch_size=16, learning_rate=1e-3)",
    ],
)
def test_a_planted_word_is_ranked_first(planted, spec):
    explainer = assay.fit(planted, planted_texts(), spec, progress=False)
    texts = [text for text in planted_texts(40, 5) if "pleasure" in text]
    found = assay.explain(planted, texts, explainer)
    top = np.mean([a.top(1)[0][0] == "pleasure" for a in found])
    assert top >= 0.8, [a.top(2) for a in found]  # by chance: 1 in 6; which texts fail depends on the processor
    assert explainer.card["validation"]["best"] > explainer.card["validation"]["random"] + 0.1


@pytest.mark.slow
def test_shapley_values_are_learnt_with_sign_and_size(planted):
    """The last step counts: the metric, which sees only the order, would choose an early one."""
    settings = "objective=shapley, masks=32, epochs=150, learning_rate=5e-3, removal=mask_token, validate_every=150"
    explainer = assay.fit(planted, planted_texts(), f"aml({settings})", progress=False)
    texts = planted_texts(40, 5)
    learnt = np.concatenate([a.scores for a in assay.explain(planted, texts, explainer)])
    target = assay.Target(scale="probability")
    exact = np.concatenate([a.scores for a in assay.explain(planted, texts, "kernel_shap", target=target)])
    assert np.corrcoef(learnt, exact)[0, 1] > 0.99
    assert np.polyfit(exact, learnt, 1)[0] == pytest.approx(1, abs=0.05)


def test_another_class_has_another_explanation(planted):
    explainer = assay.fit(
        planted, planted_texts(), "aml(masks=8, epochs=30, learning_rate=5e-3, other_classes=0.5)", progress=False
    )
    text = "the pleasure is slow"
    towards, away = (assay.explain(planted, text, explainer, target=label) for label in (1, 0))
    i = [u.text for u in towards.units].index("pleasure")
    assert towards.scores[i] > 0.1
    assert away.scores[i] < -0.1
    both = assay.explain(planted, text, explainer, target=assay.Target(1, against=0))
    assert both.scores == pytest.approx(towards.scores - away.scores, abs=1e-5)


# --- saving, loading, resuming -----------------------------------------------------------------------------------


@pytest.mark.parametrize("architecture", ["trunk", "encoder"])
def test_saved_and_loaded_is_bit_equal(architecture, tmp_path):
    model, texts = bert(), planted_texts(30)
    explainer = assay.fit(model, texts, f"aml(architecture={architecture}, epochs=1, masks=2)", progress=False)
    saved = explainer.save_pretrained(tmp_path / "mine")
    loaded = assay.load_explainer(tmp_path / "mine")
    a, b = (assay.explain(model, texts[:3], e) for e in (explainer, loaded))
    assert all(np.array_equal(x.scores, y.scores) for x, y in zip(a, b, strict=True))
    assert saved == loaded
    assert loaded.digest == explainer.digest == loaded.loaded.digest
    assert str(tmp_path) not in str(Spec.of(loaded)), "keys and pages hold no folders"
    assert "random order" in (tmp_path / "mine" / "README.md").read_text()
    card = json.loads((tmp_path / "mine" / "explainer.json").read_text())
    assert str(tmp_path) not in json.dumps(card)
    assert card["identity"] == model.identity


@pytest.mark.parametrize("spec", ["aml(epochs=3, masks=4)", "aml(objective=masking, epochs=3)"])
def test_an_interrupted_fit_resumes_to_the_same_weights(spec, tmp_path, monkeypatch):
    monkeypatch.setattr("assay.training.checkpoint.SPACING", 0)  # a checkpoint after every step
    model, texts = bert(), planted_texts(40)
    whole = assay.fit(model, texts, spec, tmp_path / "whole", progress=False)
    calls = []

    def interrupt(check, best):
        calls.append(check)
        if len(calls) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        assay.fit(model, texts, spec, tmp_path / "part", progress=False, on_check=interrupt, save_seconds=0)
    assert not (tmp_path / "part" / "explainer.json").exists()
    with pytest.raises(assay.ModelError, match="not finished"):
        assay.load_explainer(tmp_path / "part")
    resumed = assay.fit(model, texts, spec, tmp_path / "part", progress=False, on_check=lambda *_: calls.append(_))
    assert len(calls) < 5, "what was done is not done again"
    one, other = (e.loaded.attributor.state_dict() for e in (whole, resumed))
    assert all(torch.equal(one[name], other[name]) for name in one)
    assert whole.digest == resumed.digest
    assert {p.name for p in (tmp_path / "part").iterdir()} >= {"explainer.json", "explainer.safetensors", "README.md"}
    assert not list((tmp_path / "part").glob("checkpoint.*"))


@pytest.mark.filterwarnings("ignore:.*no better than a random order")  # the tiny one has learnt nothing
def test_evaluate_takes_a_fitted_explainer_by_name_and_as_an_object(tiny, tmp_path):
    model, explainer = tiny
    saved = explainer.save_pretrained(tmp_path / "mine")
    methods = [f"aml('{tmp_path}/mine')", f"aml('{tmp_path}/mine', steps=2)", explainer, "random"]
    result = assay.evaluate(
        model, planted_texts(6, 3), methods, "comprehensiveness", store=tmp_path / "store", progress=False
    )
    result.to_html(tmp_path / "page.html")
    table, page = result.to_markdown(), (tmp_path / "page.html").read_text()
    assert "aml(mine)" in table
    assert "aml(mine, steps=2)" in table
    assert saved.title == "aml(mine)"
    texts = [path.read_text(errors="replace") for path in (tmp_path / "store").rglob("*") if path.is_file()]
    assert str(tmp_path) not in "".join([table, page, *texts])


@pytest.mark.filterwarnings("ignore:.*no better than a random order")
def test_judging_an_explainer_on_what_it_was_fitted_on_is_said(tiny, tmp_path):
    model, explainer = tiny

    def remarks(texts):
        methods, metrics = [explainer, "random"], "comprehensiveness"
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            result = assay.evaluate(model, texts, methods, metrics, store=tmp_path / "store", progress=False)
        result.to_html(tmp_path / "page.html")
        told = [str(warning.message) for warning in said]
        return [m for m in (*told, result.to_markdown(), (tmp_path / "page.html").read_text()) if "was fitted on" in m]

    assert len(remarks([*planted_texts(30)[:4], *planted_texts(2, 3)])) == 3, "in Python, Markdown and on the page"
    assert "was fitted on 4 of these 6 examples" in remarks([*planted_texts(30)[:4], *planted_texts(2, 3)])[0]
    assert remarks(planted_texts(6, 3)) == []


def test_two_explainers_of_one_name_are_told_apart(tiny, tmp_path):
    model, explainer = tiny
    other = assay.fit(model, planted_texts(30), "aml(epochs=1, masks=2)", progress=False)
    for name, e in (("a", explainer), ("b", other)):
        e.save_pretrained(tmp_path / name / "mine")
    found = assay.explain(model, "a sad film", [f"aml('{tmp_path}/{name}/mine')" for name in "ab"])
    assert len(found) == 2
    assert "aml(mine)" in found


# --- refining ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tune", ["logits", "head", "all", "noise"])
def test_an_oracle_selection_is_never_worse_than_its_start(tiny, tune):
    model, explainer = tiny
    texts, metric = planted_texts(6, 3), criterion_of("comprehensiveness")
    refined = replace(explainer, steps=3, tune=tune, selection="oracle", metric="comprehensiveness")

    def values(method):
        result = assay.explain(model, texts, method)
        encodings = [fitting.fit_texts(model, assay.load_dataset([t])).encodings[0] for t in texts]
        full = np.concatenate([fitting.fit_texts(model, assay.load_dataset([t])).outputs for t in texts])
        orders = [[np.argsort(-a.scores, kind="stable")] for a in result]
        return np.concatenate(metric.values(model, encodings, full, orders, [a.target for a in result], 2048))

    before, after = values(explainer), values(refined)
    assert (after >= before - 1e-6).all()


def test_refining_lowers_the_loss_and_batches_equal_one_by_one(tiny):
    model, explainer = tiny
    texts = planted_texts(5, 3)
    refined = replace(explainer, steps=4)
    together = assay.explain(model, texts, refined)
    alone = [assay.explain(model, text, refined) for text in texts]
    for a, b in zip(together, alone, strict=True):
        assert a.scores == pytest.approx(b.scores, abs=1e-4)
        assert ((a.scores > 0) & (a.scores < 1)).all()
    assert not refined.facts.signed


def test_mask_optimisation_finds_the_planted_word(planted):
    texts = [text for text in planted_texts(20, 5) if "pleasure" in text]
    found = assay.explain(planted, texts, "mask_optimisation(steps=30)")
    assert np.mean([a.top(1)[0][0] == "pleasure" for a in found]) >= 0.9


# --- other models ------------------------------------------------------------------------------------------------


def test_an_explainer_belongs_to_its_model(tiny):
    _, explainer = tiny
    other = bert(seed=3, classes=3)
    with pytest.raises(assay.ModelError, match=r"was fitted for .* any_model=True"):
        assay.explain(other, "a sad film", explainer)
    with pytest.raises(assay.ModelError, match="was fitted for"):
        assay.evaluate(other, planted_texts(3), [explainer], progress=False)
    assert np.isfinite(assay.explain(other, "a sad film", replace(explainer, any_model=True)).scores).all()
    with pytest.raises(assay.UnsupportedError, match="3 outputs"):
        assay.explain(bert(), "a sad film", replace(explainer, any_model=True))
    with pytest.raises(assay.UnsupportedError, match="layers of width"):
        assay.explain(bert(classes=3, layers=1), "a sad film", replace(explainer, any_model=True))


def test_a_shorter_length_limit_is_still_the_same_model(tiny):
    model, explainer = tiny
    with pytest.warns(UserWarning, match="long"):
        (a,) = assay.explain(model.limited(8), [" ".join(FILLER)], explainer)
    assert not all(unit.seen for unit in a.units)
    assert all(score == 0 for unit, score in zip(a.units, a.scores, strict=True) if not unit.seen)


def test_an_encoder_with_another_tokenizer_explains_a_causal_model(tmp_path):
    """G is a BERT, F a GPT-2: scores go by characters."""
    base = tmp_path / "base"
    bert_hf().save_pretrained(base)
    wordpiece().save_pretrained(base)
    model, texts = gpt2(), planted_texts(30)
    with pytest.warns(UserWarning, match="has no mask token"):
        explainer = assay.fit(
            model, texts, f"aml(architecture=encoder, base='{base}', epochs=1, masks=2)", tmp_path / "g", progress=False
        )
    assert explainer.card["removal"] == "pad", "deleting everything would leave nothing to read"
    text, loaded = "a good 👍🏽 film", assay.load_explainer(tmp_path / "g")
    with pytest.warns(UserWarning, match="has no mask token"):
        a, b = (assay.explain(model, text, e) for e in (explainer, loaded))
    assert np.array_equal(a.scores, b.scores)
    assert len(a.units) > 3
    assert a.scores.std() > 0


def test_a_causal_model_cannot_be_the_encoder(tmp_path):
    gpt2_hf().save_pretrained(tmp_path)
    byte_bpe().save_pretrained(tmp_path)
    with pytest.raises(assay.UnsupportedError, match="both directions"):
        assay.fit(bert(), planted_texts(30), f"aml(architecture=encoder, base='{tmp_path}', epochs=1)", progress=False)


def test_an_encoder_without_a_fast_tokenizer_is_refused(tmp_path):
    bert_hf().save_pretrained(tmp_path)
    ByT5Tokenizer().save_pretrained(tmp_path)  # written in Python: it does not say where its tokens stand
    with pytest.raises(assay.AssayError, match=r"has no tokenizer; save|fast tokenizer"):
        assay.fit(bert(), planted_texts(30), f"aml(architecture=encoder, base='{tmp_path}', epochs=1)", progress=False)


# --- bad input ---------------------------------------------------------------------------------------------------


def test_no_explainer_is_one_sentence():
    with pytest.raises(assay.SpecError, match=r"needs a fitted explainer; fit one with `assay fit aml`"):
        assay.explain("builtin", "a film", "aml")
    with pytest.raises(assay.ModelError, match="there is no folder /nowhere"):
        assay.explain("builtin", "a film", "aml('/nowhere')")


def test_too_few_texts():
    with pytest.raises(assay.SpecError, match="too few"):
        assay.fit(bert(), ["a film", "a plot", "a poem"], progress=False)


def test_one_class_only():
    hf = bert_hf()
    with torch.no_grad():
        hf.classifier.bias.copy_(torch.tensor([50.0, 0.0]))
    with pytest.warns(assay.DataWarning, match="for every text"):
        assay.fit(load_model((hf, wordpiece())), planted_texts(30), "aml(epochs=1, masks=2)", progress=False)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("lime", "cannot be fitted"),
        ("aml(metric=auprc)", "needs no labels or rationales"),
        ("aml(metric='comprehensiveness - insertion')", "both are better when higher"),
        ("aml(masks=3)", "even number"),
        ("aml(objective=masking, preservation=0, inverse=0)", "learn nothing"),
        ("aml(objective=masking, removal=delete)", "no embedding"),
        ("aml(base=other)", "architecture=encoder"),
        ("aml(protocol=mine)", "unknown protocol"),
        ("aml(epochs=0)", "epochs=0"),
        ("aml(colour=red)", "no parameter 'colour'"),
    ],
)
def test_wrong_settings(spec, message):
    with pytest.raises(assay.AssayError, match=message):
        assay.fit(bert(), planted_texts(30), spec, progress=False)


def test_a_step_that_is_not_a_number_is_named(tmp_path):
    with pytest.raises(assay.ModelError, match=r"is nan at step \d+|is inf at step \d+"):
        assay.fit(
            bert(), planted_texts(30), "aml(epochs=9, masks=2, learning_rate=1e38)", tmp_path / "e", progress=False
        )


@pytest.fixture
def saved(tiny, tmp_path):
    return tiny[0], tiny[1].save_pretrained(tmp_path / "mine"), tmp_path / "mine"


def _other_weights(path):
    (path / "explainer.safetensors").write_bytes((path / "explainer.safetensors").read_bytes()[:200])


def _flipped_bit(path):
    """The last byte is a weight: the file is as valid as before, and every shape fits."""
    content = bytearray((path / "explainer.safetensors").read_bytes())
    content[-1] ^= 1
    (path / "explainer.safetensors").write_bytes(bytes(content))


def _pickled(path):
    (path / "explainer.safetensors").rename(path / "explainer.bin")


def _foreign(path):
    (path / "explainer.json").write_text('{"architectures": ["BertModel"]}')


def _not_json(path):
    (path / "explainer.json").write_text("{")


def _newer(path):
    card = json.loads((path / "explainer.json").read_text())
    (path / "explainer.json").write_text(json.dumps({**card, "format": 99}))


def _other_shape(path):
    card = json.loads((path / "explainer.json").read_text())
    (path / "explainer.json").write_text(json.dumps({**card, "states": [3, 64]}))


def _lost_encoder(path):
    card = json.loads((path / "explainer.json").read_text())
    (path / "explainer.json").write_text(json.dumps({**card, "architecture": "encoder"}))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_other_weights, "damaged"),
        (_flipped_bit, "has changed since it was saved"),
        (_pickled, "a pickled file can run code"),
        (_foreign, "does not describe an explainer"),
        (_not_json, "cannot be read"),
        (_newer, "newer version"),
        (_other_shape, "do not fit its card"),
        (_lost_encoder, "has no encoder/; fit or download the explainer again"),
        (shutil.rmtree, "there is no folder"),
    ],
)
def test_damaged_folders_are_one_sentence(saved, damage, message):
    _, _, path = saved
    folders._loaded.cache_clear()
    damage(path)
    with pytest.raises(assay.ModelError, match=message):
        assay.load_explainer(path)


def test_a_changed_explainer_is_noticed(saved):
    _, method, path = saved
    (path / "README.md").unlink()
    assert assay.load_explainer(path) == method, "the README is not part of it"
    other = Spec.of(method)
    card = json.loads((path / "explainer.json").read_text())
    (path / "explainer.json").write_text(json.dumps({**card, "model": "other"}))
    changed = replace(method, explainer=str(path), folder="", digest="")
    assert Spec.of(changed) != other
    with pytest.raises(assay.SpecError, match="has changed"):
        METHODS.make(f"aml('{path}', digest={method.digest!r})")


def test_a_finished_folder_is_not_overwritten_unasked(saved):
    model, _, path = saved
    with pytest.raises(assay.AssayError, match="finished explainer"):
        assay.fit(model, planted_texts(30), "aml(epochs=1, masks=2)", path, progress=False)
    assay.fit(model, planted_texts(30), "aml(epochs=1, masks=2)", path, overwrite=True, progress=False)
    (path / "notes.txt").write_text("mine")
    with pytest.raises(assay.AssayError, match="not empty"):
        assay.fit(model, planted_texts(30), "aml(epochs=1, masks=2)", path, overwrite=True, progress=False)


def test_selection_without_steps_is_refused():
    with pytest.raises(assay.SpecError, match="give steps=10"):
        METHODS.make("aml(selection=loss)")
    with pytest.raises(assay.SpecError, match="control"):
        METHODS.make("aml(steps=3, tune=noise)")


def test_another_scale_is_refused(tiny):
    model, explainer = tiny
    with pytest.raises(assay.UnsupportedError, match=r"fitted for the scale 'log_odds'.*objective=shapley"):
        assay.explain(model, "a film", explainer, target=assay.Target(scale="logit"))


# --- search ------------------------------------------------------------------------------------------------------


def test_search_needs_weights_to_tune():
    with pytest.raises(assay.SpecError, match="objective=masking or both"):
        assay.fit(bert(), planted_texts(30), search=2, progress=False)


def test_search_resumes_and_reuses_the_best_weights(tmp_path):
    pytest.importorskip("optuna")
    model, texts, seen = bert(), planted_texts(30), []
    settings = {"objective": "masking", "epochs": 1, "progress": False, "on_trial": seen.append}
    explainer = assay.fit(model, texts, output=tmp_path / "e", search=3, **settings)
    assert len(seen) == 3
    values = [t.value for t in seen if t.value is not None]
    best = max((t for t in seen if t.value is not None), key=lambda t: t.value)
    assert best.value == max(values)
    assert {n: explainer.card["settings"][n] for n in best.weights} == best.weights
    (note,) = explainer.card["notes"]
    assert f"the best of 3 trials, {len(values)} of them to the end (27 texts, 1 epoch): comprehensiveness" in note
    assert f"{best.value:.4f}" in note
    assert ("has only" in note) == (explainer.card["validation"]["best"] < best.value)
    assert note in (tmp_path / "e" / "README.md").read_text()
    assay.fit(model, texts, output=tmp_path / "e", search=4, overwrite=True, **settings)
    assert len(seen) == 4, "trials that are there count"
    assay.fit(model, texts, output=tmp_path / "whole", search=4, **settings)
    assert [trial.weights for trial in seen[:4]] == [trial.weights for trial in seen[4:]], "as without an interruption"


def test_trials_of_a_search_differ_by_their_weights_alone():
    """Adam does not see a common factor of all losses: with the same draws such trials pass through the same values."""
    optuna = pytest.importorskip("optuna")
    model, data = planted_model(), assay.load_dataset(planted_texts(60))
    settings = AmlFit(objective="masking", epochs=2, batch_size=8, validate_every=0.5)
    texts = fit_texts(model, data)
    short = _ShortFit(optuna, texts, Validation(texts, settings.criterion, settings.soft), settings, "a key")
    seen = []
    for factor in (1.0, 0.5):
        trial = optuna.trial.FixedTrial(dict.fromkeys(WEIGHTS, factor))
        trial.report = lambda value, step: seen.append(value)
        short(trial)
    half = len(seen) // 2
    assert len(set(seen[:half])) > 1, "the fit moves"
    assert seen[:half] == pytest.approx(seen[half:], abs=1e-4)
