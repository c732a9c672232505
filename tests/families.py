"""Tiny random models of every family, with their own tokenizers and image processors, built offline.

Each has the special tokens, post-processing, positions and removals of its family. The weights are large, so that
removing one unit moves the output by more than 0.1 (a test checks this): with the usual small initial weights every
contract would hold for a model that ignores its input. The models are in training mode with gradients on and dropout
above 0, as a user may pass them; Assay must work and leave them unchanged.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import torch
import transformers as hf
from torch import nn

from assay.models.bilstm import BilstmAttentionConfig, BilstmAttentionForSequenceClassification
from assay.models.encode import TextEncoder
from assay.models.families import family_of
from assay.models.heads.mean import Mean
from assay.models.load import load_model
from assay.models.model import Model
from assay.models.prompt import Prompt
from assay.models.readout import AssayHead
from assay.training.word_vocabulary import word_tokenizer
from tiny_tokenizers import (
    CORPUS,
    deberta_tokenizer,
    gpt2_tokenizer,
    llama_tokenizer,
    mistral_tokenizer,
    mpnet_tokenizer,
    roberta_tokenizer,
    t5_tokenizer,
    wordpiece,
    xlm_roberta_tokenizer,
)

LABELS = ("calm", "bright", "stormy")
WIDTH, HEADS, LAYERS, LIMIT = 32, 4, 2, 64

TEXTS: list[str | tuple[str, str]] = [
    "the film is bright and funny but never finds its way home again",
    "a modest pleasure",
    ("the old sailor slept", "rain fell on the quiet village"),
    "nobody knew why the music was so cold, so slow and so very green",
    "the soup was good",
]


@dataclass(frozen=True)
class Case:
    """One model to explain: a family, a task, and inputs for it."""

    name: str
    make: Callable[[], Model]
    head: str  # the module that makes the class outputs, "" for a head of ours
    inputs: tuple[Any, ...]
    removals: tuple[str, ...] = (
        "delete",
        "mask_token",
        "pad",
        "random_token",
        "unk",
        "zero",
    )  # what the tokenizer or processor allows

    @property
    def family(self) -> str:
        return self.name.split("-")[0]

    @property
    def warns(self) -> bool:
        """Whether Assay warns that the default removal is not the mask token."""
        return "mask_token" not in self.removals and "mean_colour" not in self.removals


# --- weights -----------------------------------------------------------------------------------------------------


def set_large_weights(module: nn.Module, name: str, gain: float = 1.5) -> None:
    """Initialise with large weights: matrices keep the scale of activations, vectors vary a little."""
    seed = torch.Generator().manual_seed(zlib.crc32(name.encode()))
    with torch.no_grad():
        for parameter in module.parameters():
            noise = torch.randn(parameter.shape, generator=seed)
            if parameter.dim() < 2:  # around 1 for the weights of norms, around 0 for biases
                parameter.copy_(0.1 * noise + float((parameter == 1).all()))
            elif len(parameter) > 100:  # a vocabulary
                parameter.copy_(noise)
            else:
                parameter.copy_(gain * noise / parameter[0].numel() ** 0.5)


def _config(cls: Any, tokenizer: Any, **more: Any) -> Any:
    names = dict(enumerate(LABELS))
    common = {
        "vocab_size": len(tokenizer),
        "hidden_size": WIDTH,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "intermediate_size": 2 * WIDTH,
        "max_position_embeddings": LIMIT,
        "id2label": names,
        "label2id": {label: i for i, label in names.items()},
        "pad_token_id": tokenizer.pad_token_id,
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
    }
    return cls(**{**common, **more})


def _classifier(name: str, tokenizer: Any, **more: Any) -> Any:
    """The stock classifier of a family, with large weights."""
    config = _config(getattr(hf, f"{name}Config"), tokenizer, **more)
    model = getattr(hf, f"{name}ForSequenceClassification")(config)
    set_large_weights(model, name)
    return model


# --- models ------------------------------------------------------------------------------------------------------


def _bert() -> Model:
    return load_model(_classifier("Bert", wordpiece()), wordpiece())


def _bert_regression() -> Model:
    names = {"id2label": {0: "score"}, "label2id": {"score": 0}}
    return load_model(_classifier("Bert", wordpiece(), **names), wordpiece())


def _roberta() -> Model:
    tokenizer = roberta_tokenizer()
    return load_model(
        _classifier("Roberta", tokenizer, max_position_embeddings=LIMIT + 2, type_vocab_size=1), tokenizer
    )


def _xlm_roberta() -> Model:
    tokenizer = xlm_roberta_tokenizer()
    return load_model(
        _classifier("XLMRoberta", tokenizer, max_position_embeddings=LIMIT + 2, type_vocab_size=1), tokenizer
    )


def _distilbert() -> Model:
    tokenizer = wordpiece(types=False)
    size = {"dim": WIDTH, "n_layers": LAYERS, "n_heads": HEADS, "hidden_dim": 2 * WIDTH}
    config = hf.DistilBertConfig(
        vocab_size=len(tokenizer),
        max_position_embeddings=LIMIT,
        id2label=dict(enumerate(LABELS)),
        label2id={label: i for i, label in enumerate(LABELS)},
        **size,
    )
    model = hf.DistilBertForSequenceClassification(config)
    set_large_weights(model, "distilbert")
    return load_model(model, tokenizer)


def _electra() -> Model:
    # an embedding narrower than the model: ELECTRA then projects it
    return load_model(_classifier("Electra", wordpiece(), embedding_size=WIDTH // 2), wordpiece())


def _mpnet() -> Model:
    tokenizer = mpnet_tokenizer()
    return load_model(_classifier("MPNet", tokenizer, max_position_embeddings=LIMIT + 2), tokenizer)


def _deberta_v2() -> Model:
    tokenizer = deberta_tokenizer()
    model = _classifier(
        "DebertaV2",
        tokenizer,
        relative_attention=True,
        position_buckets=8,
        pos_att_type=["p2c", "c2p"],
        share_att_key=True,
        norm_rel_ebd="layer_norm",
        position_biased_input=False,
        type_vocab_size=0,
    )
    return load_model(model, tokenizer)


def _gpt2() -> Model:
    tokenizer = gpt2_tokenizer()
    return load_model(_classifier("GPT2", tokenizer), tokenizer)


def _llama() -> Model:
    tokenizer = llama_tokenizer()
    return load_model(_classifier("Llama", tokenizer, num_key_value_heads=2), tokenizer)


def _mistral() -> Model:
    tokenizer = mistral_tokenizer()
    return load_model(_classifier("Mistral", tokenizer, num_key_value_heads=2, sliding_window=6), tokenizer)


def t5(head_width: int = WIDTH // HEADS) -> Model:
    """The encoder with our masked-mean head, as load_model builds it from a folder with assay.json."""
    tokenizer = t5_tokenizer()
    config = hf.T5Config(
        vocab_size=len(tokenizer),
        d_model=WIDTH,
        d_kv=head_width,
        d_ff=2 * WIDTH,
        num_layers=LAYERS,
        num_heads=HEADS,
        pad_token_id=0,
        eos_token_id=1,
    )
    model = hf.T5EncoderModel(config)
    set_large_weights(model, "t5")
    head = Mean(WIDTH, len(LABELS))
    set_large_weights(head, "t5 head")
    encoder = TextEncoder(tokenizer, LIMIT)
    return Model("t5", model, family_of("t5"), encoder, AssayHead(head), LABELS, "classification", tokenizer)


def _bilstm(*, paired: bool = False) -> Model:
    tokenizer = word_tokenizer([*CORPUS, *_flat(TEXTS)], 1, None, LIMIT, "words")
    names = dict(enumerate(LABELS))
    config = BilstmAttentionConfig(
        vocab_size=len(tokenizer),
        embedding_size=WIDTH,
        hidden_size=WIDTH // 2,
        paired=paired,
        id2label=names,
        label2id={label: i for i, label in names.items()},
    )
    model = BilstmAttentionForSequenceClassification(config)
    set_large_weights(model, f"bilstm {paired}", gain=4.0)  # its gates saturate: only larger weights move the outputs
    return load_model(model, tokenizer)


def _flat(texts: Any) -> list[str]:
    return [text for given in texts for text in ([given] if isinstance(given, str) else given)]


def image_processor() -> Any:
    size = {"height": 32, "width": 32}
    return hf.ViTImageProcessorPil(size=size, do_resize=True, image_mean=[0.5] * 3, image_std=[0.5] * 3)


def _image(name: str) -> Model:
    config = getattr(hf, f"{name}Config")(
        hidden_size=WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        intermediate_size=2 * WIDTH,
        image_size=32,
        patch_size=8,
        id2label=dict(enumerate(LABELS)),
        label2id={label: i for i, label in enumerate(LABELS)},
    )
    model = getattr(hf, f"{name}ForImageClassification")(config)
    set_large_weights(model, name)
    return load_model(model, image_processor())


PROMPT = "Review: {text}\nSentiment:"
WORDS = {"negative": " bad", "positive": " good"}
SHOTS = Prompt(PROMPT, (("the soup was good", " good"), ("the bread was bad", " bad")))


def causal_lm(name: str, tokenizer: Any, **more: Any) -> Any:
    config = _config(getattr(hf, f"{name}Config"), tokenizer, **more)
    model = getattr(hf, f"{name}LMHeadModel" if name == "GPT2" else f"{name}ForCausalLM")(config)
    set_large_weights(model, name)
    return model


def _prompted(prompt: str | Prompt) -> Model:
    tokenizer = llama_tokenizer()
    model = causal_lm("Llama", tokenizer, num_key_value_heads=2, max_position_embeddings=128)
    return load_model(model, tokenizer, prompt=prompt, labels=WORDS)


# --- cases -------------------------------------------------------------------------------------------------------


def _images() -> tuple[np.ndarray[Any, Any], ...]:
    rng = np.random.default_rng(7)
    return tuple(rng.integers(0, 256, (32, 32, 3), dtype=np.uint8) for _ in range(3))


_TEXTS = tuple(TEXTS)
_PAIRS = (
    _TEXTS[2],
    ("the soup was good and the music bright", "nobody slept"),
    ("nobody knew why the music was so cold", "rain fell on the sea"),
)
_SINGLE = tuple(t for t in TEXTS if isinstance(t, str))

FAMILIES: dict[str, Case] = {
    case.name: case
    for case in (
        Case("bert", _bert, "classifier", _TEXTS),
        Case("roberta", _roberta, "classifier", _TEXTS),
        Case("xlm_roberta", _xlm_roberta, "classifier", _TEXTS),
        Case("distilbert", _distilbert, "classifier", _TEXTS),
        Case("electra", _electra, "classifier", _TEXTS),
        Case("mpnet", _mpnet, "classifier", _TEXTS),
        Case("deberta_v2", _deberta_v2, "classifier", _TEXTS),
        Case("gpt2", _gpt2, "score", _TEXTS, removals=("delete", "random_token", "unk", "zero")),
        Case("t5", t5, "", _TEXTS, removals=("delete", "pad", "random_token", "unk", "zero")),
        Case("llama", _llama, "score", _TEXTS, removals=("delete", "random_token", "zero")),
        Case("mistral", _mistral, "score", _TEXTS, removals=("delete", "random_token", "unk", "zero")),
        Case("bilstm_attention", _bilstm, "classifier", _TEXTS),
        Case("vit", lambda: _image("ViT"), "classifier", _images(), removals=("mean_colour", "zero")),
        Case("dinov2", lambda: _image("Dinov2"), "classifier", _images(), removals=("mean_colour", "zero")),
    )
}
OTHERS: dict[str, Case] = {
    case.name: case
    for case in (
        Case("bert-regression", _bert_regression, "classifier", _TEXTS),
        Case("bilstm_attention-paired", lambda: _bilstm(paired=True), "classifier", _PAIRS),
        Case(
            "llama-prompted", lambda: _prompted(PROMPT), "lm_head", _SINGLE, removals=("delete", "random_token", "zero")
        ),
        Case(
            "llama-few_shot", lambda: _prompted(SHOTS), "lm_head", _SINGLE, removals=("delete", "random_token", "zero")
        ),
    )
}
CASES = {**FAMILIES, **OTHERS}
TRANSFORMERS = [name for name in FAMILIES if name != "bilstm_attention"]
TRANSFORMER_CASES = [name for name in CASES if not name.startswith("bilstm_attention")]
IMAGE_FAMILIES = ["vit", "dinov2"]
TEXT_FAMILIES = [name for name in FAMILIES if name not in IMAGE_FAMILIES]
TEXT_CASES = [name for name in CASES if name not in IMAGE_FAMILIES]


@cache
def model_of(case: str) -> Model:
    """The model of a case, built once and shared: a test that changes it takes `fresh` instead."""
    return CASES[case].make()


def fresh(case: str) -> Model:
    """A new model of the case, which a test may change."""
    return CASES[case].make()


@cache
def precise(case: str) -> Model:
    """The model of a case in float64, where rounding cannot move a score by 1e-5."""
    model = fresh(case)
    model.hf.double()
    if isinstance(model.readout, AssayHead):
        model.readout.head.double()
    return model
