"""A folder that cannot be a model, or another model than its files say, is refused with one sentence."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import save_file

import assay
from assay.models.source import BUILTIN, Source
from families import PROMPT, WORDS, fresh

Damage = Callable[[Path], Any]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(BUILTIN, tmp_path / "model"))


def edit(folder: Path, file: str = "config.json", **values: Any) -> None:
    path = folder / file
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def delete(*names: str) -> Damage:
    return lambda folder: [(folder / name).unlink() for name in names]


def write(name: str, content: bytes) -> Damage:
    return lambda folder: (folder / name).write_bytes(content)


def config(**values: Any) -> Damage:
    return lambda folder: edit(folder, **values)


def truncate(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100_000])


def more_words(folder: Path) -> None:
    tokens = json.loads((folder / "tokenizer.json").read_text())
    vocabulary = tokens["model"]["vocab"]
    vocabulary |= {f"new{i}": len(vocabulary) + i for i in range(5)}
    (folder / "tokenizer.json").write_text(json.dumps(tokens))


DAMAGES: list[tuple[Damage, str]] = [
    (truncate, "weights are damaged or incomplete"),
    (write("model.safetensors", b"\xff" * 1000), "weights are damaged or incomplete"),
    (write("model.safetensors", b""), "weights are damaged or incomplete"),
    (delete("model.safetensors"), "no file named model.safetensors"),
    (delete("tokenizer.json", "tokenizer_config.json", "vocab.txt"), "has no tokenizer; save the model's own"),
    (write("tokenizer.json", b"{"), r"tokenizer\.json cannot be read"),
    (write("tokenizer.json", b"[1, 2]"), r"tokenizer\.json is not a JSON object"),
    (write("config.json", b"{"), r"config\.json cannot be read"),
    (write("config.json", b"\xff\xfe"), r"config\.json cannot be read"),
    (write("config.json", b"[1]"), r"config\.json is not a JSON object"),
    (delete("config.json"), r"holds no model: it has no config\.json"),
    (more_words, "tokenizer has 22,005 tokens, but the model has embeddings for 22,000"),
    (config(num_hidden_layers=1), "smaller model than the weights"),
    (config(num_hidden_layers=-1), "smaller model than the weights"),
    (config(num_hidden_layers=3), r"no weights for bert\.encoder\.layer\.2.*config\.json that was saved"),
    (config(intermediate_size=64), r"has the shape \[512\], but the configuration needs \[64\]"),
    (config(vocab_size=100), r"has the shape \[22000, 128\], but the configuration needs \[100, 128\]"),
    (config(id2label={"0": "x"}, label2id={"x": 0}), r"classifier\.bias has the shape \[2\]"),
    (config(hidden_size="many"), "'hidden_size' expected int"),
    (config(hidden_act="nope"), r"transformers cannot build it \(KeyError: 'nope'\)"),
    (config(num_attention_heads=7), "not a multiple of the number of attention heads"),
    (config(model_type="nosuch"), "model type `nosuch`"),
]


@pytest.mark.parametrize(("damage", "words"), DAMAGES, ids=[words for _, words in DAMAGES])
def test_a_damaged_folder_is_a_sentence(folder: Path, damage: Damage, words: str) -> None:
    damage(folder)
    with pytest.raises(assay.ModelError, match=words) as told:
        assay.load_model(folder)
    assert "\n" not in str(told.value)


def test_a_file_in_place_of_the_folder(folder: Path) -> None:
    with pytest.raises(assay.ModelError, match=r"model\.safetensors is a file; give the folder that holds it"):
        assay.load_model(folder / "model.safetensors")
    with pytest.raises(assay.ModelError, match="no model was named"):
        assay.load_model("")


@pytest.mark.parametrize(
    ("adapter", "words"),
    [
        ({"peft_type": "LORA", "base_model_name_or_path": "/no/such"}, "base model /no/such is not there"),
        ({"peft_type": "LORA"}, r"base model \(not named\) is not there"),
        ([], r"adapter_config\.json is not a JSON object"),
    ],
)
def test_an_adapter_without_its_base(tmp_path: Path, adapter: Any, words: str) -> None:
    (tmp_path / "adapter_config.json").write_text(json.dumps(adapter))
    save_file({"a": torch.zeros(1)}, str(tmp_path / "adapter_model.safetensors"))
    with pytest.raises(assay.ModelError, match=words):
        assay.load_model(tmp_path)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"device": "gpu"}, "the device 'gpu' is not available here; use cpu"),
        ({"device": "meta"}, "the device 'meta' is not available"),
        ({"device": "xpu:3"}, "the device 'xpu:3' is not available"),
        ({"dtype": "float99"}, "unknown precision 'float99'; did you mean 'float64'"),
        ({"dtype": "int8"}, "unknown precision 'int8'"),
        ({"dtype": torch.float8_e4m3fn}, "unknown precision 'float8_e4m3fn'"),
        ({"labels": ["bad"]}, r"the model has 2 classes \(negative, positive\), but labels names 1"),
        ({"labels": ["bad", "bad"]}, "'bad' is given twice"),
        ({"labels": "ab"}, "but labels names 1"),
        ({"labels": 3}, "labels=3 are not names of classes"),
        ({"labels": {"bad": " bad", "good": " good"}}, "labels with words go with a prompt"),
        ({"labels": WORDS, "prompt": "{text} is"}, "builtin is a BertForSequenceClassification; omit the prompt"),
        ({"max_length": "many"}, "max_length='many' is not allowed; give at least 4"),
        ({"task": "poetry"}, "unknown task 'poetry'"),
    ],
)
def test_an_option_that_does_not_exist(options: dict[str, Any], words: str) -> None:
    with pytest.raises(assay.ModelError, match=words):
        assay.load_model("builtin", **options)


def test_options_for_a_model_that_is_loaded_already() -> None:
    model = fresh("bert")
    with pytest.raises(assay.ModelError, match="labels, device: this model is loaded already"):
        assay.load_model(model, labels=["a", "b", "c"], device="cpu")
    assert assay.load_model(model, max_length=8).encoder.limit == 8


def test_an_encoder_decoder_classifier_is_not_supported(tmp_path: Path) -> None:
    small = {"d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_ffn_dim": 16, "decoder_ffn_dim": 16}
    bart = transformers.BartConfig(vocab_size=50, encoder_attention_heads=2, decoder_attention_heads=2, **small)
    transformers.BartForSequenceClassification(bart).save_pretrained(tmp_path)
    words = r"is a BartForSequenceClassification: classifiers with an encoder and a decoder \(bart\) are not supported"
    with pytest.raises(assay.ModelError, match=words):
        assay.load_model(tmp_path)


@pytest.mark.parametrize(
    ("prompt", "words"),
    [
        ("Review:", r"the prompt has no slot; it needs \{text\} exactly once"),
        ("{text} {text}", r"the prompt has the slots \{text\}, \{text\}; it needs"),
        ("{text!r}", r"the prompt has the slots \{text!r\}; it needs"),
        ("{text", "the prompt has a single brace"),
        ([{"role": "user"}], "a list of messages such as"),
        ("chat: {text}?", "has no chat template; give the prompt as plain text"),
    ],
)
def test_a_prompt_that_cannot_be_filled_in(prompt: Any, words: str) -> None:
    model = fresh("llama-prompted")
    with pytest.raises(assay.ModelError, match=words):
        assay.load_model(model.hf, model.tokenizer, prompt=prompt, labels=WORDS)


def test_a_prompt_needs_labels_to_compare() -> None:
    model = fresh("llama-prompted")
    with pytest.raises(assay.ModelError, match="at least two labels"):
        assay.load_model(model.hf, model.tokenizer, prompt=PROMPT, labels={"good": " good"})


# --- foreign code --------------------------------------------------------------------------------------------------

CODE = """
from pathlib import Path
Path(__file__).with_name("ran").touch()
from transformers import BertConfig, BertForSequenceClassification
class Own(BertConfig):
    model_type = "own"
class OwnForSequenceClassification(BertForSequenceClassification):
    config_class = Own
"""
AUTO_MAP = {"AutoConfig": "own.Own", "AutoModelForSequenceClassification": "own.OwnForSequenceClassification"}


@pytest.fixture
def with_code(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("builtins.input", lambda *_: pytest.fail("a question was asked"))
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(folder.parent / "modules"))
    (folder / "own.py").write_text(CODE)
    return folder


def ran(folder: Path) -> bool:
    return any(folder.parent.rglob("ran"))


def test_foreign_code_never_runs_unasked(with_code: Path) -> None:
    edit(with_code, model_type="own", auto_map=AUTO_MAP)
    with pytest.raises(assay.ModelError, match=r"Python code of its own, which Assay does not run.*--trust-rem"):
        assay.load_model(with_code)
    assert not ran(with_code)


def test_foreign_code_runs_if_it_is_trusted(with_code: Path) -> None:
    edit(with_code, model_type="own", auto_map=AUTO_MAP)
    model = assay.load_model(with_code, trust_remote_code=True)
    assert (type(model.hf).__name__, ran(with_code)) == ("OwnForSequenceClassification", True)


@pytest.mark.parametrize("file", ["config.json", "tokenizer_config.json"])
def test_code_beside_a_known_type_is_left_aside_with_a_word(with_code: Path, file: str) -> None:
    names = AUTO_MAP if file == "config.json" else {"AutoTokenizer": ["own.Own", "own.Own"]}
    edit(with_code, file, auto_map=names)
    with pytest.warns(UserWarning, match="code of its own, which was not run.*--trust-remote-code"):
        assay.load_model(with_code)
    assert not ran(with_code)


def test_attention_from_the_hub_is_code_too(folder: Path) -> None:
    edit(folder, attn_implementation="someone/kernel")
    with pytest.raises(assay.ModelError, match="fetches code for attention from 'someone/kernel'"):
        assay.load_model(folder)


def test_a_base_model_with_code_is_not_trained(with_code: Path) -> None:
    from assay.training.pretrained import pretrained_model

    edit(with_code, model_type="own", auto_map=AUTO_MAP)
    with pytest.raises(assay.ModelError, match="does not run unasked"):
        pretrained_model(with_code, ["a", "b"], "classification")
    assert not ran(with_code)


def test_a_folder_without_weights_runs_no_code_either(with_code: Path) -> None:
    from assay.models.load import load_without_weights

    edit(with_code, model_type="own", auto_map=AUTO_MAP)
    with pytest.raises(assay.ModelError, match="does not run unasked"):
        load_without_weights(with_code, "")
    assert not ran(with_code)


def test_a_home_folder_is_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(folder.parent))
    assert Source("~/model").folder == folder
