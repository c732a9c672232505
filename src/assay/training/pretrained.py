"""Load a pretrained encoder, decoder or image model with a new classification head."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from transformers import (
    AutoModel,
    AutoModelForImageClassification,
    AutoModelForSequenceClassification,
    PreTrainedConfig,
    PreTrainedModel,
    T5EncoderModel,
)

from assay.core.errors import ModelError, UnsupportedError
from assay.core.rng import seed_of
from assay.models.families import family_of
from assay.models.heads import new_head
from assay.models.load import assemble
from assay.models.model import Model
from assay.models.placement import device_of
from assay.models.source import Source

PROBLEMS = {"classification": "single_label_classification", "regression": "regression"}


def pretrained_model(
    base: str | Path,
    labels: Sequence[str],
    task: str,
    *,
    seed: int = 0,
    device: torch.device | str | None = None,
    fresh: bool = False,
    head: str | None = None,
) -> Model:
    """Load the folder or hub id `base` and initialise its head with `seed`.

    A head that was trained for the same labels is kept, unless a fresh one or one of Assay's (`head`) is wanted.
    """
    source = Source(str(base))
    with fixed_seed(seed), source.readable_errors():
        config = source.config()
        preprocessor, hf = source.reader(config), _load_weights(source, config, labels, task, fresh=fresh, head=head)
        return model_with_head(hf, preprocessor, labels, task, device, head)


def model_with_head(
    hf: PreTrainedModel,
    preprocessor: Any,
    labels: Sequence[str],
    task: str,
    device: torch.device | str | None,
    head: str | None = None,
) -> Model:
    """Assemble a Model to train, with a head of Assay's if one is named.

    A T5 encoder, for which transformers has no classifier, gets a masked-mean head unless another is named.
    """
    device = device_of(device)
    set_labels(hf.config, labels, task)
    name = head or ("mean" if isinstance(hf, T5EncoderModel) else None)
    own = None if name is None else new_head(name, hf.config, len(labels)).to(device)
    hf.to(device)  # type: ignore[arg-type]
    if getattr(preprocessor, "pad_token_id", 0) is None:
        preprocessor.pad_token = preprocessor.eos_token or preprocessor.unk_token
    if getattr(preprocessor, "pad_token_id", None) is not None:
        hf.config.pad_token_id = preprocessor.pad_token_id  # causal classifiers of transformers need it
    return assemble(hf, preprocessor, name=type(hf).__name__, task=task, labels=labels, head=own)


def set_labels(config: PreTrainedConfig, labels: Sequence[str], task: str) -> PreTrainedConfig:
    """Write labels and task to the configuration, where load_model and transformers look for them."""
    config.id2label = dict(enumerate(labels))
    config.label2id = {label: i for i, label in enumerate(labels)}
    config.problem_type = PROBLEMS[task]  # type: ignore[assignment]
    return config


def _load_weights(
    source: Source, config: PreTrainedConfig, labels: Sequence[str], task: str, *, fresh: bool, head: str | None
) -> PreTrainedModel:
    same_labels = list(config.id2label.values()) == list(labels)  # type: ignore[union-attr]
    has_head = any(name.endswith("Classification") for name in config.architectures or ())
    set_labels(config, labels, task)
    hf, info = source.open(auto_class(source.name, config, head), config, torch.float32)
    _warn_missing(source.name, hf, [*info["missing_keys"], *(key[0] for key in info["mismatched_keys"])])
    if head is None and has_head and (fresh or not same_labels):
        _reinitialise_head(hf)
    return hf


def _warn_missing(base: str, hf: PreTrainedModel, initialised: Sequence[str]) -> None:
    """Warn if weights other than the head are missing: the report of transformers is silenced."""
    prefix = "" if hf.base_model is hf else f"{hf.base_model_prefix}."
    missing = sorted(key for key in initialised if key.startswith(prefix) and "pooler" not in key)  # often missing
    if missing:
        warnings.warn(
            f"{base} lacks {len(missing)} weights of its encoder, e.g. {missing[0]}; they were randomly initialised",
            stacklevel=5,
        )


def auto_class(base: str, config: PreTrainedConfig, head: str | None) -> Any:
    """The class of transformers: a classifier, or an encoder for a head of Assay's."""
    if config.model_type == "t5":
        return T5EncoderModel
    if config.is_encoder_decoder:
        raise ModelError(f"{base} is an encoder-decoder ({config.model_type}); train an encoder, a decoder or a T5")
    family = family_of(config.model_type)
    if head is not None and family.recurrent:
        raise UnsupportedError(f"{base} is not a transformer, so it has no layers for the head {head}; leave head out")
    if head is not None:
        return AutoModel
    return AutoModelForImageClassification if family.images else AutoModelForSequenceClassification


def _reinitialise_head(hf: PreTrainedModel) -> None:
    """Re-initialise a head that was trained for other labels, even if its size fits."""
    for child in hf.children():
        if child is not hf.base_model:
            for module in child.modules():
                if callable(reset := getattr(module, "reset_parameters", None)):
                    reset()


@contextmanager
def fixed_seed(seed: int) -> Iterator[None]:
    """Initialise weights with a seed, and restore the caller's random state."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed_of("weights", seed))
        yield
