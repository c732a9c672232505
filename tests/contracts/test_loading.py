"""Every way to pass a model: folder, pair, pipeline, PEFT wrapper, adapter folder; and what must be refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

import assay
from assay.explainers import METHODS
from assay.models.load import save_model
from families import CASES, FAMILIES, LABELS, PROMPT, WORDS, fresh, image_processor, model_of
from runs import State, explain, hook_free, works_on
from stock import example, ours
from tiny_tokenizers import wordpiece

TEXT = "the film is bright and funny"
BERT = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}


def _logits(model, given):
    return ours(model, model.batch([model.encode(example(given))]))


# --- folders -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", FAMILIES)
def test_a_folder_gives_the_same_model_back(case, tmp_path):
    """Also the T5 encoder, whose head transformers does not know."""
    model = model_of(case)
    save_model(model, tmp_path)
    loaded = assay.load_model(tmp_path)
    assert (loaded.family, loaded.labels, loaded.task) == (model.family, model.labels, model.task)
    assert loaded.fingerprint == model.fingerprint
    for given in CASES[case].inputs:
        assert torch.allclose(_logits(loaded, given), _logits(model, given), atol=1e-5)
    assert not list(tmp_path.glob("*.bin"))


def test_a_prompted_model_from_a_folder(tmp_path):
    model = fresh("llama-prompted")
    model.hf.float().save_pretrained(tmp_path)
    model.tokenizer.save_pretrained(tmp_path)
    loaded = assay.load_model(str(tmp_path), prompt=model.encoder.prompt, labels=WORDS)
    assert torch.allclose(_logits(loaded, TEXT), _logits(model, TEXT), atol=1e-5)


def test_regression_from_a_folder(tmp_path):
    save_model(model_of("bert-regression"), tmp_path)
    loaded = assay.load_model(tmp_path)
    assert (loaded.task, loaded.labels) == ("regression", ("score",))
    assert explain(loaded, TEXT, "occlusion").target == assay.Target(0, None, "raw")


# --- objects -----------------------------------------------------------------------------------------------------


def test_a_text_pipeline():
    model = fresh("bert")
    model.hf.eval()  # a pipeline does not switch dropout off
    pipeline = transformers.pipeline("text-classification", model=model.hf, tokenizer=model.tokenizer, device="cpu")
    attribution = explain(pipeline, TEXT, "occlusion")
    assert attribution.label == pipeline(TEXT)[0]["label"]
    assert attribution.value_full == pytest.approx(pipeline(TEXT)[0]["score"], abs=1e-5)


def test_an_image_pipeline():
    from PIL import Image

    model = fresh("vit")
    model.hf.eval()
    pipeline = transformers.pipeline(
        "image-classification", model=model.hf, image_processor=model.encoder.processor, device="cpu"
    )
    image = Image.fromarray(CASES["vit"].inputs[0])
    attribution = explain(pipeline, image, "occlusion")
    best = pipeline(image)[0]
    assert (attribution.label, round(attribution.value_full, 4)) == (
        best["label"],
        pytest.approx(best["score"], abs=1e-3),
    )


def test_a_model_with_its_tokenizer_beside_it():
    model = fresh("bert")
    assert assay.load_model(model.hf, model.tokenizer).labels == LABELS
    assert assay.load_model((model.hf, model.tokenizer)).labels == LABELS
    assert assay.load_model(model) is model


def test_images_as_arrays_and_as_pictures_agree():
    from PIL import Image

    model, array = model_of("vit"), CASES["vit"].inputs[0]
    from_array, from_image = (explain(model, image, "occlusion") for image in (array, Image.fromarray(array)))
    assert np.array_equal(from_array.scores, from_image.scores)


# --- PEFT --------------------------------------------------------------------------------------------------------

TARGETS = {"bert": ["query", "value"], "llama": ["q_proj", "v_proj"], "gpt2": ["c_attn"], "distilbert": ["q_lin"]}


def _lora(case):
    import peft

    model = fresh(case)
    config = peft.LoraConfig(
        task_type="SEQ_CLS", r=2, target_modules=TARGETS[case], fan_in_fan_out=case == "gpt2", lora_alpha=8
    )
    wrapped = peft.get_peft_model(model.hf, config)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():  # a new adapter does nothing: give it weights
        for name, parameter in wrapped.named_parameters():
            if "lora_" in name:
                parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.5)
    return model, wrapped


@pytest.mark.parametrize("case", TARGETS)
def test_a_peft_model_loads_like_any_other(case):
    plain, wrapped = _lora(case)
    model = assay.load_model(wrapped, plain.tokenizer)
    assert model.family.name == case
    assert model.labels == LABELS
    with torch.no_grad():
        stock = wrapped.eval()(**plain.tokenizer(TEXT, return_tensors="pt")).logits
        with wrapped.disable_adapter():
            without = wrapped(**plain.tokenizer(TEXT, return_tensors="pt")).logits
    assert torch.allclose(_logits(model, TEXT), stock, atol=1e-5)
    assert (stock - without).abs().max() > 0.01  # the adapter counts


@pytest.mark.parametrize("method", [method for method in METHODS.names if works_on(method, "bert")])
def test_every_method_explains_a_peft_model(method):
    plain, wrapped = _lora("bert")
    wrapped.train()
    model = assay.load_model(wrapped, plain.tokenizer)
    before = State.of(model)
    attributions = explain((wrapped, plain.tokenizer), [TEXT, "a modest pleasure"], method)
    assert all(np.isfinite(a.scores).all() for a in attributions)
    before.assert_same(State.of(model))
    assert hook_free(model)


@pytest.mark.parametrize("case", ["bert", "llama"])
def test_an_adapter_folder(case, tmp_path):
    plain, wrapped = _lora(case)
    with torch.no_grad():
        expected = wrapped.eval()(**plain.tokenizer(TEXT, return_tensors="pt")).logits
    base, adapter = tmp_path / "base", tmp_path / "adapter"
    save_model(fresh(case), base)
    wrapped.peft_config["default"].base_model_name_or_path = str(base)
    wrapped.save_pretrained(adapter)
    plain.tokenizer.save_pretrained(adapter)
    loaded = assay.load_model(adapter)
    assert torch.allclose(_logits(loaded, TEXT), expected, atol=1e-5)
    assert loaded.labels == LABELS
    (adapter / "tokenizer.json").unlink()
    (adapter / "tokenizer_config.json").unlink()
    assert torch.allclose(_logits(assay.load_model(adapter), TEXT), expected, atol=1e-5)  # the base's tokenizer


def test_an_adapter_that_brings_the_head_of_a_bare_encoder(tmp_path):
    """The usual case: an encoder without classifier, and an adapter that was saved with a head of three classes."""
    plain, wrapped = _lora("bert")
    base, adapter = _bare_encoder(tmp_path / "base"), tmp_path / "adapter"
    wrapped.peft_config["default"].base_model_name_or_path = str(base)
    with torch.no_grad():
        expected = wrapped.eval()(**plain.tokenizer(TEXT, return_tensors="pt")).logits
    wrapped.save_pretrained(adapter)
    plain.tokenizer.save_pretrained(adapter)
    loaded = assay.load_model(adapter)
    assert len(loaded.labels) == 3
    assert torch.allclose(_logits(loaded, TEXT), expected, atol=1e-5)


def _bare_encoder(folder):
    encoder = fresh("bert").hf.base_model
    encoder.config.num_labels = 2  # a pre-trained encoder does not have our three classes
    encoder.save_pretrained(folder)
    return folder


def test_an_adapter_on_a_bare_encoder_that_brings_no_head_is_refused(tmp_path):
    import peft

    base, adapter = _bare_encoder(tmp_path / "base"), tmp_path / "adapter"
    wrapped = peft.get_peft_model(
        transformers.BertModel.from_pretrained(base), peft.LoraConfig(r=2, target_modules=["query"])
    )
    wrapped.peft_config["default"].base_model_name_or_path = str(base)
    wrapped.save_pretrained(adapter)
    wordpiece().save_pretrained(adapter)
    with pytest.raises(assay.ModelError, match="is a BertModel, which has no classification head"):
        assay.load_model(adapter)


def test_an_adapter_of_a_prompted_model(tmp_path):
    import peft

    plain = fresh("llama-prompted")
    plain.hf.float()
    base, adapter = tmp_path / "base", tmp_path / "adapter"
    plain.hf.save_pretrained(base)
    plain.tokenizer.save_pretrained(base)
    config = peft.LoraConfig(task_type="CAUSAL_LM", r=2, target_modules=["q_proj"], init_lora_weights=False)
    wrapped = peft.get_peft_model(plain.hf, config)
    wrapped.peft_config["default"].base_model_name_or_path = str(base)
    wrapped.save_pretrained(adapter)
    loaded = assay.load_model(adapter, prompt=PROMPT, labels=WORDS)
    given = assay.load_model(wrapped, plain.tokenizer, prompt=PROMPT, labels=WORDS)
    without = assay.load_model(base, prompt=PROMPT, labels=WORDS)
    assert torch.allclose(_logits(loaded, TEXT), _logits(given, TEXT), atol=1e-5)
    assert (_logits(loaded, TEXT) - _logits(without, TEXT)).abs().max() > 0.01


def test_a_pickled_adapter_is_refused(tmp_path):
    _, wrapped = _lora("bert")
    save_model(fresh("bert"), tmp_path / "base")
    wrapped.peft_config["default"].base_model_name_or_path = str(tmp_path / "base")
    wrapped.save_pretrained(tmp_path / "adapter", safe_serialization=False)
    with pytest.raises(assay.ModelError, match="only safetensors"):
        assay.load_model(tmp_path / "adapter")


def test_prompt_learning_is_refused():
    import peft

    model = fresh("bert")
    config = peft.PromptTuningConfig(task_type="SEQ_CLS", num_virtual_tokens=3, token_dim=32, num_layers=2)
    with pytest.raises(assay.UnsupportedError, match="prompt-learning"):
        assay.load_model(peft.get_peft_model(model.hf, config), model.tokenizer)


# --- what must be refused ----------------------------------------------------------------------------------------


def test_an_encoder_without_a_head_is_refused(tmp_path):
    encoder = transformers.BertModel(transformers.BertConfig(vocab_size=len(wordpiece()), **BERT))
    with pytest.raises(assay.ModelError, match="is a BertModel, which has no classification head"):
        assay.load_model(encoder, wordpiece())
    encoder.save_pretrained(tmp_path)
    wordpiece().save_pretrained(tmp_path)
    with pytest.raises(assay.ModelError, match="no classification head"):
        assay.load_model(tmp_path)


def test_a_checkpoint_whose_head_is_missing_is_refused(tmp_path):
    """The config names a classifier that the weights lack: transformers would initialise a random head."""
    save_model(model_of("bert"), tmp_path)
    weights = load_file(tmp_path / "model.safetensors")
    save_file({k: v for k, v in weights.items() if not k.startswith("classifier")}, tmp_path / "model.safetensors")
    with pytest.raises(assay.ModelError, match=r"no weights for classifier\.bias, classifier\.weight"):
        assay.load_model(tmp_path)


def test_a_pickled_checkpoint_is_refused(tmp_path):
    save_model(model_of("bert"), tmp_path)
    torch.save(load_file(tmp_path / "model.safetensors"), tmp_path / "pytorch_model.bin")
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(assay.ModelError, match="safetensors"):
        assay.load_model(tmp_path)


def test_a_causal_model_without_a_prompt_is_refused(tmp_path):
    model = fresh("llama-prompted")
    with pytest.raises(assay.ModelError, match="prompt="):
        assay.load_model(model.hf, model.tokenizer)
    with pytest.raises(assay.ModelError, match="labels="):
        assay.load_model(model.hf, model.tokenizer, prompt="Review: {text}\nSentiment:")


def test_a_prompt_for_a_model_that_generates_no_text_is_refused():
    model = fresh("bert")
    with pytest.raises(assay.ModelError, match="needs a causal language model"):
        assay.load_model(model.hf, model.tokenizer, prompt="Review: {text}\nSentiment:", labels=[" good", " bad"])


@pytest.mark.parametrize("kind", ["TokenClassification", "QuestionAnswering", "MaskedLM", "MultipleChoice"])
def test_other_heads_are_refused(kind):
    config = transformers.BertConfig(vocab_size=len(wordpiece()), **BERT)
    model = getattr(transformers, f"BertFor{kind}")(config)
    with pytest.raises(assay.ModelError, match="no classification head"):
        assay.load_model(model, wordpiece())


def test_a_model_alone_is_refused():
    with pytest.raises(assay.ModelError, match="tokenizer"):
        assay.load_model(fresh("bert").hf)
    with pytest.raises(assay.ModelError, match="give a folder"):
        assay.load_model(42)


def test_a_t5_encoder_without_our_head_is_refused(tmp_path):
    save_model(model_of("t5"), tmp_path)
    assert json.loads((tmp_path / "assay.json").read_text())["head"] == "mean"
    (tmp_path / "assay.json").unlink()
    with pytest.raises(assay.ModelError, match="no classification head"):
        assay.load_model(tmp_path)


def test_an_image_processor_for_a_text_model_is_refused():
    with pytest.raises(assay.ModelError, match="offsets"):
        assay.load_model(fresh("bert").hf, image_processor())


@pytest.mark.parametrize("case", ["gpt2", "llama", "mistral"])
def test_a_tokenizer_without_pad_works(case):
    model = model_of(case)
    assert model.tokenizer.pad_token_id is None
    assert model.hf.config.pad_token_id is None
    attributions = explain(model, [TEXT, "rain fell"], "occlusion")  # the stock classifier refuses two lengths
    assert all(np.isfinite(a.scores).all() for a in attributions)
