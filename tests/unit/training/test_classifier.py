"""Fine-tuning every kind of model on planted cues; what is saved loads again and explains by the cue."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf
from safetensors.torch import load_file, save_file

from assay.api.explain import explain
from assay.core.errors import AssayError, ModelError, SpecError
from assay.core.types import Example
from assay.datasets.dataset import Dataset
from assay.datasets.load import load_dataset
from assay.evaluation.performance.accuracy import Accuracy
from assay.evaluation.performance.pearson import Pearson
from assay.models.load import load_model
from assay.models.readout import AssayHead, LastToken
from assay.training import checkpoint
from assay.training.batching import epoch_batches
from assay.training.classifier import Trainable, TrainingResult, fine_tune, initial_model, predict, train_classifier
from assay.training.encoded import encode_dataset
from assay.training.recipe import Group, Recipe
from families import image_processor
from tiny_tokenizers import gpt2_tokenizer, llama_tokenizer, t5_tokenizer, wordpiece

FILLER = "the old sailor slept while rain fell on a quiet village and nobody knew why the music was so slow"
CUES = {"calm": "green", "bright": "funny"}
ACCURACY = {"accuracy": Accuracy()}
RECIPE = Recipe(epochs=10, batch_size=8, learning_rate=3e-3, selection="accuracy", patience=6)
LONGER = replace(RECIPE, epochs=25, patience=None, learning_rate=2e-3)
MANY = 192  # texts: for GPT-2's tokenizer a cue is two or three pieces, and of 64 texts it would learn their neighbours
SCRATCH = "bert(layers=1, width=32, heads=2, vocabulary=200, positions=40)"


def texts(count: int, seed: int, *, pair: bool = False) -> Dataset:
    """Filler words, one of which is the cue of the label; in a pair it is in the second text."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(count):
        label = list(CUES)[i % 2]
        words = list(rng.choice(FILLER.split(), rng.integers(3, 9)))
        words.insert(int(rng.integers(len(words) + 1)), CUES[label])
        row = {"text": " ".join(words), "label": label}
        rows.append({"premise": "a film of the sea", "hypothesis": row["text"], "label": label} if pair else row)
    return load_dataset(rows)


def images(count: int, seed: int) -> Dataset:
    """Noise with a bright square, above or below."""
    rng = np.random.default_rng(seed)
    out = []
    for i in range(count):
        pixels = rng.integers(0, 80, (16, 16, 3), dtype=np.uint8)
        pixels[(i % 2) * 8 : (i % 2) * 8 + 8, 4:12] = 255
        out.append(Example(image=pixels, label=i % 2, id=str(i)))
    return Dataset(tuple(out), "squares", ("above", "below"))


def learn(base: Any, recipe: Recipe = RECIPE, *, data: Any = texts, count: int = 64, **more: Any) -> TrainingResult:
    return train_classifier(base, data(count, 0), data(32, 1), recipe, **{"metrics": ACCURACY, **more})


def best(trained: TrainingResult) -> float:
    assert trained.history.best_check is not None
    return trained.history.best_check.scores[next(name for name in trained.history.best_check.scores if name != "loss")]


def pretrained(folder: Path, name: str) -> Path:
    """The folder of a tiny model without a classification head, as encoders and language models come."""
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "max_position_embeddings": 64}
    torch.manual_seed(0)
    if name == "bert":
        tokenizer: Any = wordpiece()
        model: Any = hf.BertModel(hf.BertConfig(vocab_size=len(tokenizer), intermediate_size=64, **sizes))
    elif name == "gpt2":
        tokenizer = gpt2_tokenizer()
        ends = {"bos_token_id": tokenizer.eos_token_id, "eos_token_id": tokenizer.eos_token_id}
        model = hf.GPT2LMHeadModel(hf.GPT2Config(vocab_size=len(tokenizer), **sizes, **ends))
    elif name == "llama":
        tokenizer = llama_tokenizer()
        model = hf.LlamaForCausalLM(hf.LlamaConfig(vocab_size=len(tokenizer), intermediate_size=64, **sizes))
    elif name == "t5":
        tokenizer = t5_tokenizer()
        shape = {"d_model": 32, "d_kv": 16, "d_ff": 64, "num_layers": 1, "num_heads": 2, "decoder_start_token_id": 0}
        model = hf.T5ForConditionalGeneration(hf.T5Config(vocab_size=len(tokenizer), **shape))
    else:
        tokenizer = image_processor()
        sizes.pop("max_position_embeddings")
        model = hf.ViTModel(hf.ViTConfig(intermediate_size=64, image_size=32, patch_size=8, **sizes))
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


# --- families --------------------------------------------------------------------------------------------------------


def test_a_planted_cue_is_learned_and_explains(tmp_path: Path) -> None:
    """From nothing, with a tokenizer of its own: 100 %, and occlusion finds the cue."""
    trained = learn(SCRATCH, output=tmp_path / "model")
    assert best(trained) == 1.0
    model = load_model(str(tmp_path / "model"))
    assert model.labels == ("bright", "calm")
    assert model.fingerprint == trained.model.fingerprint
    tops: dict[str, set[str]] = {}
    for example in texts(6, 2):
        found = explain(model, example.text, method="occlusion", units="word")
        assert found.label == example.label
        tops.setdefault(str(example.label), set()).add(found.top(1)[0][0])
    assert any(
        top == {CUES[label]} for label, top in tops.items()
    )  # of two classes, one may be told by the other's cue


@pytest.mark.parametrize("name", ["bert", "gpt2", "llama", "t5"])
@pytest.mark.parametrize("pair", [False, True])
def test_pretrained_families_learn_it(tmp_path: Path, name: str, pair: bool) -> None:
    base = pretrained(tmp_path / "base", name)

    def data(count: int, seed: int) -> Dataset:
        return texts(count, seed, pair=pair)

    trained = learn(base, replace(LONGER, epochs=10), data=data, count=MANY, output=tmp_path / "model")
    assert best(trained) >= 0.95
    model = load_model(str(tmp_path / "model"))
    assert type(model.readout) is type(trained.model.readout)
    assert isinstance(model.readout, {"t5": AssayHead, "gpt2": LastToken, "llama": LastToken}.get(name, object))
    assert (model.labels, model.task) == (("bright", "calm"), "classification")
    check = data(16, 3)
    again, before = (predict(Trainable(m), encode_dataset(m, check)) for m in (model, trained.model))
    assert np.allclose(again, before, atol=1e-6)
    with torch.no_grad():  # the numbers that explanations see
        seen = model.logits(model.batch([model.encode(example) for example in check])).numpy()
    assert np.allclose(seen, before, atol=1e-5)


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("name", ["bert", "gpt2", "llama"])
def test_fine_tuning_is_a_bare_loop_over_transformers(tmp_path: Path, name: str, task: str) -> None:
    """The weights after an epoch are those of the stock classifier, its own loss, and torch's AdamW."""
    base, data = pretrained(tmp_path, name), scored(20) if task == "regression" else texts(20, 0)
    recipe = Recipe(epochs=1, batch_size=8, learning_rate=1e-3, groups=(), warmup=0.0, dropout=False, by_length=False)
    model = initial_model(base, data, data)
    stock = copy.deepcopy(model.hf).requires_grad_(True).eval()
    key = f"{data.fingerprint} {model.fingerprint} 0"
    fine_tune(model, data, data, recipe)
    optimiser = torch.optim.AdamW(stock.parameters(), lr=1e-3, weight_decay=0.01)
    for step, batch in enumerate(epoch_batches(20, 8, key, 0)):
        optimiser.param_groups[0]["lr"] = 1e-3 * (1 - step / 3)
        optimiser.zero_grad()
        bare_loss(stock, model.tokenizer, [data[i] for i in batch]).backward()
        torch.nn.utils.clip_grad_norm_(stock.parameters(), 1.0)
        optimiser.step()
    for (place, found), expected in zip(model.hf.named_parameters(), stock.parameters(), strict=True):
        torch.testing.assert_close(found, expected, rtol=0, atol=2e-5, msg=lambda m, place=place: f"{place}: {m}")


def bare_loss(model: Any, tokenizer: Any, examples: list[Example]) -> Any:
    read = tokenizer([e.text for e in examples], padding=True, padding_side="right", return_tensors="pt")
    if model.config.problem_type == "regression":
        return model(**read, labels=torch.tensor([float(str(e.label)) for e in examples])).loss
    return model(**read, labels=torch.tensor([model.config.label2id[str(e.label)] for e in examples])).loss


def scored(count: int) -> Dataset:
    rng = np.random.default_rng(0)
    return load_dataset([{"text": e.text, "score": float(rng.normal())} for e in texts(count, 0)])


@pytest.mark.parametrize("base", ["vit", "vit(layers=1, width=32, heads=2, patch=4)"])
def test_images(tmp_path: Path, base: str) -> None:
    given = base if "(" in base else pretrained(tmp_path / "base", base)
    trained = learn(given, LONGER, data=images, output=tmp_path / "model")
    assert best(trained) >= 0.95
    model = load_model(str(tmp_path / "model"))
    found = explain(model, images(2, 5)[0].image, method="occlusion")
    assert found.label == "above"
    assert len(found.units) == 16


@pytest.mark.parametrize("family", ["roberta", "distilbert", "electra", "mpnet", "deberta_v2", "gpt2", "mistral", "t5"])
def test_every_family_from_nothing(tmp_path: Path, family: str) -> None:
    """One epoch: it trains, is saved and answers the same when loaded again."""
    base = f"{family}(layers=1, width=16, heads=2, vocabulary=150, positions=40)"
    trained = learn(base, replace(RECIPE, epochs=1), output=tmp_path)
    model = load_model(str(tmp_path))
    rows = [model.encode(example) for example in texts(4, 2)]
    with torch.no_grad():
        assert torch.allclose(model.logits(model.batch(rows)), trained.model.logits(model.batch(rows)), atol=1e-5)
    config = json.loads((tmp_path / "config.json").read_text())
    assert config.get("num_hidden_layers", config.get("n_layers", config.get("n_layer", config.get("num_layers")))) == 1


def test_regression(tmp_path: Path) -> None:
    def data(count: int, seed: int) -> Dataset:
        rng = np.random.default_rng(seed)
        rows = []
        for _ in range(count):
            funny = int(rng.integers(0, 4))
            words = [*rng.choice(FILLER.split(), 4), *["funny"] * funny, *["green"] * (3 - funny)]
            rows.append({"text": " ".join(rng.permutation(words)), "score": funny / 2 - 0.75})
        return load_dataset(rows)

    recipe = replace(RECIPE, selection="pearson", epochs=12)
    trained = learn(SCRATCH, recipe, data=data, metrics={"pearson": Pearson()}, output=tmp_path)
    assert best(trained) > 0.9
    model = load_model(str(tmp_path))
    assert (model.task, model.labels) == ("regression", ("score",))
    assert explain(model, "funny funny funny", method="occlusion").target.scale == "raw"


# --- what is saved ---------------------------------------------------------------------------------------------------


def test_the_card_says_how_it_was_made(tmp_path: Path) -> None:
    base = pretrained(tmp_path / "base", "bert")
    recipe = replace(RECIPE, epochs=2)
    trained = learn(base, recipe, output=tmp_path / "model", max_length=30)
    card = json.loads((tmp_path / "model" / "training.json").read_text())
    assert str(tmp_path) not in json.dumps(card), "no path of this machine"
    assert card["base"] == "base"
    assert Recipe.from_json(card["recipe"]) == replace(recipe, better="higher")
    assert card["fingerprint"] == load_model(str(tmp_path / "model")).fingerprint
    assert card["data"]["train"]["fingerprint"] == texts(64, 0).fingerprint
    assert card["validation"]["accuracy"] == best(trained)
    assert len(card["history"]["checks"]) == 2
    assert {"assay", "torch", "transformers"} <= set(card["versions"])
    assert not (tmp_path / "model" / checkpoint.NAME).exists()


def test_the_length_limit_holds_when_it_is_explained(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="examples of list are longer than the length limit and were truncated"):
        learn(SCRATCH, replace(RECIPE, epochs=1), output=tmp_path, max_length=6)
    model = load_model(str(tmp_path))
    with pytest.warns(UserWarning, match="longer than the model's 6 positions"):
        assert len(model.encode(Example("green " * 20))) == 6


def test_a_finished_folder_is_not_overwritten_unasked(tmp_path: Path) -> None:
    quick = replace(RECIPE, epochs=1)
    learn("t5(layers=1, width=16, heads=2, positions=40)", quick, output=tmp_path)
    with pytest.raises(AssayError, match="holds a finished training run"):
        learn(SCRATCH, quick, output=tmp_path)
    learn(SCRATCH, quick, output=tmp_path, overwrite=True)
    assert load_model(str(tmp_path)).family.name == "bert", "nothing of the T5 with its own head is left"
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("x")
    with pytest.raises(AssayError, match="not empty"):
        learn(SCRATCH, quick, output=tmp_path / "full")


def test_a_mistake_costs_no_finished_model(tmp_path: Path) -> None:
    quick = replace(RECIPE, epochs=1)
    expected = learn(SCRATCH, quick, output=tmp_path).model.fingerprint
    with pytest.raises(ModelError, match="cannot load"):
        learn("no/such/folder/x", quick, output=tmp_path, overwrite=True)
    with pytest.raises(AssayError, match="is also the base"):
        learn(tmp_path, quick, output=tmp_path, overwrite=True)
    assert load_model(str(tmp_path)).fingerprint == expected


def test_a_fingerprint_follows_the_weights() -> None:
    model = initial_model(SCRATCH, texts(16, 0), texts(8, 1))
    before = model.fingerprint
    fine_tune(model, texts(16, 0), texts(8, 1), replace(RECIPE, epochs=1, selection="loss"))
    assert before != model.fingerprint == replace(model).fingerprint


def test_interrupted_it_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "SPACING", 0)
    recipe = replace(RECIPE, epochs=3)

    def stop(check: Any, best: bool) -> None:
        if check.epoch == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        learn(SCRATCH, recipe, output=tmp_path, on_check=stop, save_seconds=0.0)
    assert {p.name for p in tmp_path.iterdir()} == {checkpoint.NAME}
    with (
        pytest.raises(AssayError, match="different recipe, data or model"),
        pytest.warns(UserWarning, match="truncated"),
    ):
        learn(SCRATCH, recipe, output=tmp_path, max_length=8)
    again = learn(SCRATCH, recipe, output=tmp_path)
    undisturbed = learn(SCRATCH, recipe)
    assert again.model.fingerprint == undisturbed.model.fingerprint
    assert again.history == undisturbed.history


# --- beginnings ------------------------------------------------------------------------------------------------------


def test_seeds_draw_the_head_and_leave_the_encoder(tmp_path: Path) -> None:
    base = pretrained(tmp_path, "bert")
    one, two, other = (initial_model(base, texts(4, 0), texts(4, 1), seed) for seed in (0, 0, 1))
    assert one.fingerprint == two.fingerprint
    states = [m.hf.state_dict() for m in (one, other)]
    differ = {name for name in states[0] if not torch.equal(states[0][name], states[1][name])}
    assert differ == {"classifier.weight"}
    plain = hf.BertModel.from_pretrained(tmp_path).state_dict()
    assert all(torch.equal(states[0][f"bert.{name}"], value) for name, value in plain.items())


def test_an_encoder_with_lost_weights_is_told_of(tmp_path: Path) -> None:
    base = pretrained(tmp_path, "bert")
    kept = {k: v for k, v in load_file(base / "model.safetensors").items() if "attention" not in k}
    save_file(kept, base / "model.safetensors", {"format": "pt"})
    with pytest.warns(UserWarning, match="lacks 10 weights of its encoder, e.g. bert.encoder.layer.0.attention"):
        initial_model(base, texts(4, 0), texts(4, 1))


def test_a_head_for_other_labels_is_forgotten(tmp_path: Path) -> None:
    learn(SCRATCH, replace(RECIPE, epochs=1), output=tmp_path)
    old = load_model(str(tmp_path)).hf.get_parameter("classifier.weight")
    other = load_dataset([{"text": "a", "label": "no"}, {"text": "b", "label": "yes"}])
    assert torch.equal(initial_model(tmp_path, texts(4, 0), texts(4, 1)).hf.get_parameter("classifier.weight"), old)
    assert not torch.equal(initial_model(tmp_path, other, other).hf.get_parameter("classifier.weight"), old)


def test_the_same_training_twice_is_the_same_model() -> None:
    recipe = replace(RECIPE, epochs=1)
    one, two, other = learn(SCRATCH, recipe), learn(SCRATCH, recipe), learn(SCRATCH, replace(recipe, seed=1))
    assert one.model.fingerprint == two.model.fingerprint != other.model.fingerprint


def test_groups_reach_head_and_encoder(tmp_path: Path) -> None:
    """A head alone, the encoder frozen by a rate of 0."""
    base = pretrained(tmp_path, "bert")
    recipe = replace(RECIPE, epochs=1, groups=(Group(r"^hf\.bert", learning_rate=0.0, weight_decay=0.0),))
    trained = learn(base, recipe)
    before = initial_model(base, texts(64, 0), texts(32, 1)).hf.state_dict()
    changed = {k for k, v in trained.model.hf.state_dict().items() if not torch.equal(v, before[k])}
    assert changed == {"classifier.weight", "classifier.bias"}


def test_examples_without_label_or_text_are_left_out() -> None:
    rows = [{"text": "green", "label": "calm"}, {"text": "funny", "label": "bright"}]
    data = load_dataset([*rows * 4, {"text": "nobody knows", "label": None}, {"text": "  ", "label": "calm"}])
    with pytest.warns(UserWarning, match="left out") as told:
        train_classifier(SCRATCH, data, load_dataset(rows), Recipe(epochs=1))
    messages = " ".join(str(w.message) for w in told)
    assert "1 of 10 examples of list have no label" in messages
    assert "1 of 10 examples of list contain no text" in messages


@pytest.mark.parametrize(
    ("base", "more", "words"),
    [
        ("no/such/folder/x", {}, "cannot load"),
        ("brt(layers=2)", {}, "did you mean 'bert'"),
        ("bert(layer=2)", {}, "did you mean 'layers'"),
        ("bert(width=30, heads=4)", {}, "not a multiple of heads"),
        ("vit(layers=1)", {}, "has no images"),
        (SCRATCH, {"task": "clasification"}, "did you mean 'classification'"),
        (SCRATCH, {"recipe": Recipe(selection="f1")}, "is not one of the given metrics"),
        (SCRATCH, {"max_length": 2}, "give at least 4"),
    ],
)
def test_mistakes_are_sentences(base: str, more: dict[str, Any], words: str) -> None:
    with pytest.raises((SpecError, ModelError), match=words):
        learn(base, **more)


def test_labels_that_cannot_be_learned() -> None:
    one = load_dataset([{"text": "green", "label": "calm"}] * 3)
    with pytest.raises(SpecError, match="needs at least two"):
        train_classifier(SCRATCH, one, one)
    scores = load_dataset([{"text": "green", "score": 0.5}, {"text": "funny", "score": 1.5}])
    with pytest.raises(SpecError, match="contains scores"):
        train_classifier(SCRATCH, scores, scores, task="classification")
    far = load_dataset([{"text": "green", "score": 50.5}, {"text": "funny", "score": 99.5}])
    with pytest.warns(UserWarning, match="rescale them"):
        train_classifier(SCRATCH, far, far, Recipe(epochs=1))
