"""A model from nothing: random weights of a family's architecture, and a tokenizer trained on the data."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import (
    AutoConfig,
    AutoModelForImageClassification,
    AutoModelForSequenceClassification,
    PreTrainedConfig,
    PreTrainedModel,
    T5Config,
    T5EncoderModel,
    ViTImageProcessorPil,
)

from assay.core.errors import SpecError, nearest
from assay.core.spec import Spec, build, parse
from assay.datasets.dataset import Dataset
from assay.models.families import FAMILIES, Family
from assay.models.model import Model
from assay.training.bilstm import BilstmSize, bilstm_model
from assay.training.pretrained import name_labels, seeded, with_head
from assay.training.vocabulary import train_wordpiece


@dataclass(frozen=True)
class Scratch:
    """The size of a model: "bert(layers=2, width=128)"."""

    layers: int = 2
    width: int = 128
    heads: int = 2
    inner: int | None = None  # width of the feed-forward layers; None: four times `width`
    vocabulary: int = 8000  # pieces, at most
    positions: int = 512  # longest text
    patch: int = 4  # pixels, of an image model

    def __post_init__(self) -> None:
        if min(self.layers, self.width, self.heads, self.vocabulary, self.positions, self.patch) < 1:
            raise SpecError(f"{Spec.of(self)}: every size must be at least 1")
        if self.width % self.heads:
            raise SpecError(f"width={self.width} is no multiple of heads={self.heads}")


def is_scratch(base: object) -> bool:
    """Whether a base asks for random weights: a spec, or the text of one, with brackets; names alone are hub ids."""
    if isinstance(base, str) and not Path(base).is_dir():
        return bool(re.fullmatch(r"\s*\w+\s*\(.*\)\s*", base))
    return isinstance(base, Spec)


def described(base: str | Spec) -> tuple[Family, Scratch | BilstmSize]:
    """What a base asks for, checked before there are data to train on."""
    spec = parse(base) if isinstance(base, str) else base
    if spec.name not in FAMILIES.names:
        raise SpecError(f"there is no family {spec.name!r} to train from nothing; {nearest(spec.name, FAMILIES.names)}")
    family: Family = FAMILIES.get(spec.name)
    if spec.name == "bilstm_attention":  # whole words and sizes of its own
        return family, build(spec, BilstmSize)
    return family, build(spec, Scratch)


def scratch_model(
    base: str | Spec,
    data: Dataset,
    labels: Sequence[str],
    task: str,
    *,
    seed: int = 0,
    device: torch.device | str | None = None,
) -> Model:
    """The architecture that `base` describes with weights drawn by `seed`."""
    family, size = described(base)
    if isinstance(size, BilstmSize):
        return bilstm_model(size, data, labels, task, seed=seed, device=device)
    reader = _processor(data, size) if family.images else _tokenizer(data, size, causal=family.causal)
    config = name_labels(_config(family, size, reader), labels, task)
    with seeded(seed):
        return with_head(_weights(config, family), reader, labels, task, device)


def _weights(config: PreTrainedConfig, family: Family) -> PreTrainedModel:
    if isinstance(config, T5Config):
        return T5EncoderModel(config)
    auto: Any = AutoModelForImageClassification if family.images else AutoModelForSequenceClassification
    hf: PreTrainedModel = auto.from_config(config)
    return hf


def _config(family: Family, size: Scratch, reader: Any) -> PreTrainedConfig:
    """What the family's configuration knows of these, by transformers' common names and the few that differ."""
    default = AutoConfig.for_model(family.model_types[0])
    inner = size.inner or 4 * size.width
    shape: dict[str, Any] = {
        "hidden_size": size.width,
        "num_hidden_layers": size.layers,
        "num_attention_heads": size.heads,
        "num_key_value_heads": size.heads,
        "embedding_size": size.width,
        "d_kv": size.width // size.heads,
        **dict.fromkeys(("intermediate_size", "d_ff", "hidden_dim", "n_inner"), inner),
    }
    shape |= _image_shape(reader, size) if family.images else _text_shape(reader, size)
    known = set(default.to_dict()) | set(default.attribute_map)
    return type(default)(**{name: value for name, value in shape.items() if name in known})


def _text_shape(tokenizer: Any, size: Scratch) -> dict[str, Any]:
    return {
        "vocab_size": len(tokenizer),
        "max_position_embeddings": size.positions + 2,  # RoBERTa counts from behind the pad id
        "pad_token_id": tokenizer.pad_token_id,
        "bos_token_id": tokenizer.cls_token_id,
        "eos_token_id": tokenizer.sep_token_id,
    }


def _image_shape(processor: Any, size: Scratch) -> dict[str, Any]:
    return {"image_size": processor.size["height"], "patch_size": size.patch, "num_channels": 3}


def _tokenizer(data: Dataset, size: Scratch, *, causal: bool) -> Any:
    texts = (text for example in data for text in (example.text, example.text_pair) if text)
    return train_wordpiece(texts, size.vocabulary, size.positions, causal=causal)


def _processor(data: Dataset, size: Scratch) -> Any:
    """Images as large as the first one, cut to whole patches."""
    if data[0].image is None:
        raise SpecError(f"{data.name or 'the data'} has no images; choose a family that reads text")
    side = max(np.asarray(data[0].image).shape[:2]) // size.patch * size.patch
    if not side:
        raise SpecError(f"patch={size.patch} is larger than the images")
    return ViTImageProcessorPil(
        size={"height": side, "width": side}, do_convert_rgb=True, image_mean=[0.5] * 3, image_std=[0.5] * 3
    )
