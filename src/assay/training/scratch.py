"""Models trained from scratch: a family's architecture with random weights, and a tokenizer trained on the data."""

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
    PreTrainedConfig,
    PreTrainedModel,
    ViTImageProcessorPil,
)

from assay.core.errors import SpecError, UnsupportedError, nearest
from assay.core.spec import Spec, build, parse
from assay.datasets.dataset import Dataset
from assay.models.families import FAMILIES, Family
from assay.models.model import Model
from assay.training.bilstm import BilstmSize, bilstm_model
from assay.training.pretrained import auto_class, fixed_seed, model_with_head, set_labels
from assay.training.vocabulary import train_wordpiece

LARGEST = 20_000_000_000  # parameters; checked before any is allocated


@dataclass(frozen=True)
class TransformerSize:
    """The size of a transformer: "bert(layers=2, width=128)"."""

    layers: int = 2
    width: int = 128
    heads: int = 2
    inner: int | None = None  # width of the feed-forward layers; None: 4 * width
    vocabulary: int = 8000  # maximum number of pieces
    positions: int = 512  # maximum text length
    patch: int = 4  # patch size of an image model, in pixels

    def __post_init__(self) -> None:
        if min(self.layers, self.width, self.heads, self.vocabulary, self.positions, self.patch) < 1:
            raise SpecError(f"{Spec.of(self)}: every size must be at least 1")
        parameters = self.layers * self.width * (4 * self.width + 2 * (self.inner or 4 * self.width))
        if parameters + self.width * (self.vocabulary + self.positions) > LARGEST:
            raise SpecError(f"{Spec.of(self)} has more than {LARGEST:,} parameters; choose a smaller size")
        if self.width % self.heads:
            raise SpecError(f"width={self.width} is not a multiple of heads={self.heads}")


def is_scratch(base: object) -> bool:
    """Whether a base is a spec with brackets, to be trained from scratch; names without brackets are hub ids."""
    if isinstance(base, str) and not Path(base).is_dir():
        return bool(re.fullmatch(r"\s*\w+\s*\(.*\)\s*", base))
    return isinstance(base, Spec)


def parse_size(base: str | Spec) -> tuple[Family, TransformerSize | BilstmSize]:
    """The family and size that a spec describes, checked without data."""
    spec = parse(base) if isinstance(base, str) else base
    if spec.name not in FAMILIES.names:
        raise SpecError(f"unknown model family {spec.name!r}; {nearest(spec.name, FAMILIES.names)}")
    family: Family = FAMILIES.get(spec.name)
    if spec.name == "bilstm_attention":  # has a word-level tokenizer and sizes of its own
        return family, build(spec, BilstmSize)
    return family, build(spec, TransformerSize)


def scratch_model(
    base: str | Spec,
    data: Dataset,
    labels: Sequence[str],
    task: str,
    *,
    seed: int = 0,
    device: torch.device | str | None = None,
    head: str | None = None,
) -> Model:
    """The model that `base` describes, with weights initialised by `seed`, and a head of Assay's if one is named."""
    family, size = parse_size(base)
    if isinstance(size, BilstmSize):
        if head is not None:
            raise UnsupportedError(f"{base} has no transformer blocks for the head {head}; leave head out")
        return bilstm_model(size, data, labels, task, seed=seed, device=device)
    preprocessor = _image_processor(data, size) if family.images else _tokenizer(data, size, causal=family.causal)
    config = set_labels(_config(family, size, preprocessor), labels, task)
    with fixed_seed(seed):
        return model_with_head(random_weights(str(base), config, head), preprocessor, labels, task, device, head)


def random_weights(base: str, config: PreTrainedConfig, head: str | None) -> PreTrainedModel:
    """The architecture of a configuration with new weights."""
    auto: Any = auto_class(base, config, head)
    hf: PreTrainedModel = auto(config) if config.model_type == "t5" else auto.from_config(config)
    return hf


def _config(family: Family, size: TransformerSize, preprocessor: Any) -> PreTrainedConfig:
    """The family's configuration with those of the names below that it has."""
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
    shape |= _image_shape(preprocessor, size) if family.images else _text_shape(preprocessor, size)
    known = set(default.to_dict()) | set(default.attribute_map)
    return type(default)(**{name: value for name, value in shape.items() if name in known})


def _text_shape(tokenizer: Any, size: TransformerSize) -> dict[str, Any]:
    return {
        "vocab_size": len(tokenizer),
        "max_position_embeddings": size.positions + 2,  # RoBERTa counts positions from pad_token_id + 1
        "pad_token_id": tokenizer.pad_token_id,
        "bos_token_id": tokenizer.cls_token_id,
        "eos_token_id": tokenizer.sep_token_id,
    }


def _image_shape(processor: Any, size: TransformerSize) -> dict[str, Any]:
    return {"image_size": processor.size["height"], "patch_size": size.patch, "num_channels": 3}


def _tokenizer(data: Dataset, size: TransformerSize, *, causal: bool) -> Any:
    texts = (text for example in data for text in (example.text, example.text_pair) if text)
    return train_wordpiece(texts, size.vocabulary, size.positions, causal=causal)


def _image_processor(data: Dataset, size: TransformerSize) -> Any:
    """A processor for images of the size of the first one, cut to whole patches."""
    if data[0].image is None:
        raise SpecError(f"{data.name or 'the data'} has no images; choose a family that reads text")
    side = max(np.asarray(data[0].image).shape[:2]) // size.patch * size.patch
    if not side:
        raise SpecError(f"patch={size.patch} is larger than the images")
    return ViTImageProcessorPil(
        size={"height": side, "width": side}, do_convert_rgb=True, image_mean=[0.5] * 3, image_std=[0.5] * 3
    )
