"""A pretrained encoder, decoder or image model with a fresh head for a task."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import nn
from transformers import (
    AutoConfig,
    AutoImageProcessor,
    AutoModelForImageClassification,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    PreTrainedConfig,
    PreTrainedModel,
    T5EncoderModel,
)

from assay.core.errors import ModelError
from assay.core.rng import seed_of
from assay.models import hooks
from assay.models.families import family_of
from assay.models.heads import HEADS
from assay.models.load import assemble
from assay.models.model import Model

PROBLEMS = {"classification": "single_label_classification", "regression": "regression"}


def fresh_model(
    base: str | Path, labels: Sequence[str], task: str, *, seed: int = 0, device: torch.device | str | None = None
) -> Model:
    """The folder or hub id `base` with a head drawn by `seed`; its encoder keeps the pretrained weights."""
    try:
        with seeded(seed), hooks.quiet(), silent():
            config = AutoConfig.from_pretrained(base)
            reader, hf = _reader(str(base), config), _weights(str(base), config, labels, task)
            return with_head(hf, reader, labels, task, device)
    except (OSError, ValueError) as error:
        first = str(error).strip().splitlines()[0].rstrip(".")
        raise ModelError(f"cannot train from {str(base)!r}: {first}; give a folder or a hub id") from error


def with_head(
    hf: PreTrainedModel, reader: Any, labels: Sequence[str], task: str, device: torch.device | str | None
) -> Model:
    """A Model to train; an encoder that transformers has no classifier for gets our masked mean."""
    device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    name_labels(hf.config, labels, task)
    head: nn.Module | None = None
    if isinstance(hf, T5EncoderModel):
        head = HEADS.get("mean")(hf.config.hidden_size, len(labels)).to(device)
    hf.to(device)  # type: ignore[arg-type]
    if getattr(reader, "pad_token_id", 0) is None:
        reader.pad_token = reader.eos_token or reader.unk_token
    if getattr(reader, "pad_token_id", None) is not None:
        hf.config.pad_token_id = reader.pad_token_id  # transformers' own forward of a causal classifier needs it
    return assemble(hf, reader, name=type(hf).__name__, task=task, labels=labels, head=head)


def name_labels(config: PreTrainedConfig, labels: Sequence[str], task: str) -> PreTrainedConfig:
    """Write labels and task where load_model and every user of transformers look for them."""
    config.id2label = dict(enumerate(labels))
    config.label2id = {label: i for i, label in enumerate(labels)}
    config.problem_type = PROBLEMS[task]  # type: ignore[assignment]
    return config


def _weights(base: str, config: PreTrainedConfig, labels: Sequence[str], task: str) -> PreTrainedModel:
    same = list(config.id2label.values()) == list(labels)  # type: ignore[union-attr]
    headed = any(name.endswith("Classification") for name in config.architectures or ())
    name_labels(config, labels, task)
    # Only safetensors: a pickled checkpoint could run code.
    options = {"config": config, "dtype": torch.float32, "use_safetensors": True, "ignore_mismatched_sizes": True}
    hf, info = _auto_class(base, config).from_pretrained(base, output_loading_info=True, **options)
    _tell_lost(base, hf, [*info["missing_keys"], *(key[0] for key in info["mismatched_keys"])])
    if headed and not same:
        _draw_head(hf)
    found: PreTrainedModel = hf
    return found


def _tell_lost(base: str, hf: PreTrainedModel, drawn: Sequence[str]) -> None:
    """Warn if not the head alone is new: transformers' own report is silenced, and training would hide it."""
    inside = "" if hf.base_model is hf else f"{hf.base_model_prefix}."
    lost = sorted(key for key in drawn if key.startswith(inside) and "pooler" not in key)  # many encoders come without
    if lost:
        warnings.warn(
            f"{base} lacks {len(lost)} weights of its encoder, e.g. {lost[0]}; they were drawn at random", stacklevel=5
        )


def _auto_class(base: str, config: PreTrainedConfig) -> Any:
    if config.model_type == "t5":
        return T5EncoderModel
    if config.is_encoder_decoder:
        raise ModelError(f"{base} is a {config.model_type} ; train an encoder, a decoder, or the encoder of a T5")
    images = family_of(config.model_type).images
    return AutoModelForImageClassification if images else AutoModelForSequenceClassification


def _draw_head(hf: PreTrainedModel) -> None:
    """Forget a head that was trained for other labels, also where its size would fit."""
    for child in hf.children():
        if child is not hf.base_model:
            for module in child.modules():
                if callable(draw := getattr(module, "reset_parameters", None)):
                    draw()


def _reader(base: str, config: PreTrainedConfig) -> Any:
    if not family_of(config.model_type).images:
        return AutoTokenizer.from_pretrained(base)
    try:
        return AutoImageProcessor.from_pretrained(base, backend="pil")
    except ImportError as error:
        raise ModelError("images need Pillow; install it with: pip install 'assay[images]'") from error


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Weights drawn inside depend on the seed alone, and the caller's random numbers are left as they were."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed_of("weights", seed))
        yield


@contextmanager
def silent() -> Iterator[None]:
    """transformers reports that the head is new; that is the point."""
    level = transformers.logging.get_verbosity()
    transformers.logging.set_verbosity_error()
    try:
        yield
    finally:
        transformers.logging.set_verbosity(level)
