"""From a folder or hub id to a transformers model, its tokenizer or processor, and the head of Assay's it may have."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors.torch import load_file, save_file
from torch import nn
from transformers import (
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForImageClassification,
    AutoModelForSequenceClassification,
    PreTrainedConfig,
    PreTrainedModel,
    T5EncoderModel,
)

from assay.core.errors import ModelError
from assay.models import bilstm, hooks  # noqa: F401  bilstm: registers the architecture with transformers
from assay.models.heads import head_name, new_head
from assay.models.placement import device_of, dtype_of
from assay.models.readout import AssayHead
from assay.models.source import ADAPTER, HEADLESS, Source

HEAD_SETTINGS = "assay.json"
HEAD_WEIGHTS = "head.safetensors"


class SavedHead(NamedTuple):
    """A head of Assay's with the labels and the task it was trained for."""

    readout: AssayHead
    labels: tuple[str, ...]
    task: str


class Parts(NamedTuple):
    """What a Model is assembled from."""

    hf: PreTrainedModel
    reader: Any  # tokenizer or image processor
    head: SavedHead | None


def read_parts(source: Source, tokenizer: Any, *, prompted: bool, device: Any, dtype: Any) -> Parts:
    """Read a model; its weights are moved to the device."""
    place, precision = device_of(device), dtype_of(dtype)
    with source.readable_errors():
        if source.folder is not None and (source.folder / ADAPTER).is_file():
            return _adapted(source, tokenizer, prompted, place, precision)
        config = source.config()
        settings = _head_settings(source.folder)
        auto = _auto_class(source.name, config, settings, prompted=prompted)
        hf: PreTrainedModel = source.weights(auto, config, _precision(precision, config, place)).to(place)  # type: ignore[arg-type]
        head = None if settings is None or source.folder is None else _read_head(source.folder, settings, hf)
        return Parts(hf, tokenizer or source.reader(config), head)


def read_without_weights(folder: Path) -> Parts:
    """A saved model whose weights were deleted: it has a shape but no numbers."""
    source = Source(str(folder))
    with source.readable_errors():
        config, settings = source.config(), _head_settings(folder)
        auto: Any = _auto_class(source.name, config, settings, prompted=False)
        with torch.device("meta"):
            hf = (
                auto._from_config(config)
                if auto is T5EncoderModel
                else auto.from_config(config, trust_remote_code=False)
            )
            head = None if settings is None else _saved_head(_head_of(settings, config), settings)
        return Parts(hf, source.reader(config), head)


def save_head(head: nn.Module, folder: Path, labels: tuple[str, ...], task: str) -> None:
    """Write a head of Assay's beside the weights of its encoder."""
    save_file({k: v.contiguous() for k, v in head.state_dict().items()}, str(folder / HEAD_WEIGHTS))
    settings = {"head": head_name(head), "labels": list(labels), "task": task}
    (folder / HEAD_SETTINGS).write_text(json.dumps(settings, indent=1))


def check_head(name: str, architecture: str, config: PreTrainedConfig) -> None:
    """Raise unless the architecture classifies whole inputs with only an encoder or only a decoder."""
    classifies = architecture.endswith(("ForSequenceClassification", "ForImageClassification"))
    if config.is_encoder_decoder and classifies:
        raise ModelError(
            f"{name} is a {architecture}: classifiers with an encoder and a decoder ({config.model_type}) are not "
            "supported; use one that has only an encoder, such as BERT or RoBERTa, or only a decoder, such as GPT-2"
        )
    if not classifies:
        raise ModelError(f"{name} is a {architecture}, which has no classification head; {HEADLESS}")


def _auto_class(name: str, config: PreTrainedConfig, settings: dict[str, Any] | None, *, prompted: bool) -> Any:
    if settings:
        return T5EncoderModel if config.model_type == "t5" else AutoModel
    (architecture,) = (config.architectures or ["model of unknown architecture"])[:1]
    if prompted:
        if architecture.endswith("Classification"):
            raise ModelError(f"a prompt needs a causal language model, but {name} is a {architecture}; omit the prompt")
        return AutoModelForCausalLM
    check_head(name, architecture, config)
    return AutoModelForImageClassification if "ForImage" in architecture else AutoModelForSequenceClassification


def _precision(dtype: torch.dtype | None, config: PreTrainedConfig, device: torch.device) -> torch.dtype:
    if dtype is not None:
        return dtype
    # Half precision is slow and imprecise on a CPU, so such checkpoints are computed in float32.
    saved: Any = None if device.type == "cpu" else getattr(config, "dtype", None)
    return saved or torch.float32


# --- heads of Assay's --------------------------------------------------------------------------------------------


def _head_settings(folder: Path | None) -> dict[str, Any] | None:
    """Name, labels and task of the head of Assay's that was saved in a folder, if there is one."""
    if folder is None or not (folder / HEAD_SETTINGS).is_file():
        return None
    settings: dict[str, Any] = json.loads((folder / HEAD_SETTINGS).read_text(encoding="utf-8"))
    if missing := [key for key in ("head", "labels", "task") if key not in settings]:
        raise ModelError(f"{folder / HEAD_SETTINGS} does not name {', '.join(missing)}; save the model again")
    return settings


def _head_of(settings: dict[str, Any], config: PreTrainedConfig) -> nn.Module:
    return new_head(settings["head"], config, len(settings["labels"]))


def _read_head(folder: Path, settings: dict[str, Any], hf: PreTrainedModel) -> SavedHead:
    head = _head_of(settings, hf.config)
    head.load_state_dict(load_file(str(folder / HEAD_WEIGHTS)))
    return _saved_head(head.to(hf.device, hf.dtype).eval().requires_grad_(False), settings)


def _saved_head(head: nn.Module, settings: dict[str, Any]) -> SavedHead:
    return SavedHead(AssayHead(head), tuple(settings["labels"]), settings["task"])


# --- adapters ----------------------------------------------------------------------------------------------------


def _adapted(source: Source, tokenizer: Any, prompted: bool, device: torch.device, dtype: torch.dtype | None) -> Parts:
    """The adapted model; the head is the adapter's or, if it has none, the base model's."""
    assert source.folder is not None
    base, classes = _base(source), _adapted_classes(source.folder / "adapter_model.safetensors")
    with base.readable_errors():
        config = base.config()
        if not prompted and classes is None:
            _auto_class(base.name, config, None, prompted=prompted)
    hf = _with_adapter(source, prompted, None if prompted else classes, dtype or torch.float32)
    own = (source.folder / "tokenizer_config.json").is_file()
    return Parts(hooks.unwrap_peft(hf.to(device)), tokenizer or (source if own else base).tokenizer(), None)


def _base(source: Source) -> Source:
    """The model that an adapter was trained on."""
    assert source.folder is not None
    name = json.loads((source.folder / ADAPTER).read_text(encoding="utf-8")).get("base_model_name_or_path")
    base = replace(source, name=str(name or ""))
    if not name or (base.folder is None and name.startswith(("/", ".", "~"))):
        raise ModelError(
            f"{source.name} is an adapter, and its base model {name or '(not named)'} is not there; write the folder "
            f"or hub id of the base into its {ADAPTER}, as base_model_name_or_path"
        )
    return base


def _with_adapter(source: Source, prompted: bool, classes: int | None, dtype: torch.dtype) -> Any:
    try:
        from peft import AutoPeftModelForCausalLM, AutoPeftModelForSequenceClassification, PeftModel
    except ImportError as error:
        raise ModelError(f"{source.name} is a PEFT adapter; install PEFT with: pip install 'assay[peft]'") from error
    if source.folder is not None and (source.folder / "config.json").is_file():  # with labels and task, as Assay saves
        hf, _ = _base(source).open(AutoModelForSequenceClassification, source.config(), dtype)
        return PeftModel.from_pretrained(hf, source.path)
    auto = AutoPeftModelForCausalLM if prompted else AutoPeftModelForSequenceClassification
    more: dict[str, Any] = {} if classes is None else {"num_labels": classes}
    return auto.from_pretrained(
        source.path, dtype=dtype, use_safetensors=True, trust_remote_code=source.trust_remote_code, **more
    )


def _adapted_classes(weights: Path) -> int | None:
    """Number of classes of the head that was saved with an adapter; None if none was saved."""
    if not weights.is_file():
        raise ModelError(f"{weights} does not exist; only safetensors are read, because a pickled adapter can run code")
    heads = ("score.weight", "classifier.weight", "classifier.out_proj.weight")
    return next((len(tensor) for name, tensor in load_file(str(weights)).items() if name.endswith(heads)), None)
