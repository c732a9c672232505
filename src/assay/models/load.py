"""`load_model` and `save_model`: from a folder, hub id, (model, tokenizer) pair or pipeline to a Model and back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import nn
from transformers import (
    AutoConfig,
    AutoImageProcessor,
    AutoModelForCausalLM,
    AutoModelForImageClassification,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    PreTrainedConfig,
    PreTrainedModel,
    T5EncoderModel,
)

from assay.core.errors import ModelError, SpecError, nearest
from assay.models import bilstm, hooks  # noqa: F401  bilstm: registers the architecture with transformers
from assay.models.encode import ImageEncoder, TextEncoder
from assay.models.families import Family, family_of
from assay.models.function import function_model, is_function, refuse_options
from assay.models.heads import HEADS
from assay.models.imported import import_model, is_import
from assay.models.model import Model
from assay.models.prompt import Prompt, label_tokens
from assay.models.readout import AssayHead, LabelWords, LastToken, Readout, StockHead

BUILTIN = Path(__file__).parent / "builtin"
HEAD_SETTINGS = "assay.json"
TASKS = ("classification", "multi_label", "regression")
HEADLESS = (
    "Assay explains trained classifiers: fine-tune one, load a *ForSequenceClassification or *ForImageClassification "
    "checkpoint, or give prompt= and labels= to classify with a causal language model"
)


def load_model(
    model: Any,
    tokenizer: Any = None,
    *,
    task: str | None = None,
    labels: Sequence[str] | Mapping[str, str] | None = None,
    prompt: str | Prompt | None = None,
    device: str | torch.device | None = None,
    dtype: str | torch.dtype | None = None,
    max_length: int | None = None,
    **function: Any,
) -> Model:
    """Load a model to explain.

    model: a folder, a hub id, "builtin", a (model, tokenizer) pair, a transformers pipeline, or a transformers model
    together with `tokenizer`. Or any model behind a function that takes a list of texts (or of pairs of texts) and
    returns a row of numbers for each; a scikit-learn pipeline; a torch module that takes texts; or
    "module:attribute", which imports one of these.
    task: "classification", "multi_label" or "regression"; None infers it.
    labels: a list of names for the classes; with `prompt`, a dict {name: word that follows the prompt}.
    prompt: a template with a {text} slot, which turns a causal language model into a classifier.
    device, dtype: where and in which precision to load the weights.
    max_length: truncate texts to this number of positions.
    function: for a function only: outputs, mask, name, version, batch_size, retries, per_second, max_calls and cache;
    see `FunctionSettings` and the guide docs/functions.md.
    """
    if max_length is not None:
        more: Any = {"device": device, "dtype": dtype, **function}
        return load_model(model, tokenizer, task=task, labels=labels, prompt=prompt, **more).limited(max_length)
    if isinstance(model, str) and is_import(model):
        imported = import_model(model)
        named = {} if isinstance(imported, Model) else {"name": model}
        more = {"device": device, "dtype": dtype, **named, **function}
        return load_model(imported, tokenizer, task=task, labels=labels, prompt=prompt, **more)
    if isinstance(model, Model):
        refuse_options(function, model.name)
        return model
    if task is not None and task not in TASKS:
        raise ModelError(f"unknown task {task!r}; {nearest(task, TASKS)}")
    if is_function(model) and not _is_transformers(model):
        for option, value in {"tokenizer": tokenizer, "prompt": prompt, "device": device, "dtype": dtype}.items():
            if value is not None:
                raise SpecError(f"{option}= does not apply to a model behind a function; omit it")
        return function_model(model, labels, task, function)
    refuse_options(function, str(model) if isinstance(model, str | Path) else type(model).__name__)
    prompt = Prompt(prompt) if isinstance(prompt, str) else prompt
    if isinstance(model, str | Path):
        name, hf, reader, head = _from_path(str(model), tokenizer, prompt, device, dtype)
    else:
        name, hf, reader, head = *_from_objects(model, tokenizer), None
        if device is not None and getattr(hf, "hf_device_map", None) is None:
            hf.to(device)  # type: ignore[arg-type]
        if dtype is not None:
            raise ModelError("dtype= works only for a folder or hub id; convert a model in memory with model.to(dtype)")
    return _assemble(name, hf, reader, head, task, labels, prompt)


def assemble(
    hf: PreTrainedModel, reader: Any, *, name: str, task: str, labels: Sequence[str], head: nn.Module | None = None
) -> Model:
    """A Model from parts in memory, for training: a transformers classifier, or an encoder with a head of Assay's."""
    with_settings = None if head is None else (AssayHead(head), {"labels": list(labels), "task": task})
    return _assemble(name, hf, reader, with_settings, task, labels, None)


def load_without_weights(folder: str | Path, fingerprint: str) -> Model:
    """A saved model whose weights were deleted: it can encode texts and be described in a report, but not run."""
    config = AutoConfig.from_pretrained(folder)
    settings = _head_settings(folder)
    build: Any = T5EncoderModel if settings and config.model_type == "t5" else _auto_class("", config, None).from_config
    with torch.device("meta"), hooks.quiet():
        hf = build(config)
        head = None if settings is None else (AssayHead(_new_head(settings, config)), settings)
    images = family_of(config.model_type).images
    reader = _processor(str(folder)) if images else AutoTokenizer.from_pretrained(folder)
    model = _assemble(Path(folder).name, hf, reader, head, None, None, None)
    return replace(model, known_fingerprint=fingerprint)


def save_model(model: Model, folder: str | Path) -> None:
    """Save to a folder that `load_model` can read: safetensors, plus assay.json if the model has a head of Assay's."""
    folder = Path(folder)
    model.hf.save_pretrained(folder)
    reader = model.tokenizer or (model.encoder.processor if isinstance(model.encoder, ImageEncoder) else None)
    if reader is not None:
        reader.save_pretrained(folder)
    if (head := model.head) is not None:
        save_file({k: v.contiguous() for k, v in head.state_dict().items()}, str(folder / "head.safetensors"))
        settings = {"head": type(head).__name__.lower(), "labels": list(model.labels), "task": model.task}
        (folder / HEAD_SETTINGS).write_text(json.dumps(settings, indent=1))


def check_exists(base: str) -> None:
    """Raise if no model can be loaded from a folder or hub id."""
    with _readable_errors(base):
        AutoConfig.from_pretrained(str(BUILTIN) if base == "builtin" else str(Path(base).expanduser()))


# --- from a folder or id -----------------------------------------------------------------------------------------


def _from_path(
    path: str, tokenizer: Any, prompt: Prompt | None, device: Any, dtype: Any
) -> tuple[str, PreTrainedModel, Any, tuple[AssayHead, dict[str, Any]] | None]:
    name = path
    path = str(BUILTIN) if path == "builtin" else path
    device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    with _readable_errors(name):
        return name, *_read(path, tokenizer, prompt, device, dtype)


@contextmanager
def _readable_errors(name: str) -> Iterator[None]:
    """Turn the errors of transformers for an unreadable folder or hub id into one sentence."""
    try:
        with hooks.quiet():
            yield
    except (OSError, ValueError) as error:
        raise ModelError(f"cannot load {name!r}: {_first_line(error)}; give a folder or a hub id") from error


def _read(
    path: str, tokenizer: Any, prompt: Prompt | None, device: torch.device, dtype: Any
) -> tuple[PreTrainedModel, Any, tuple[AssayHead, dict[str, Any]] | None]:
    """Weights, tokenizer or processor, and the head of Assay's if the folder has one."""
    if (Path(path) / "adapter_config.json").is_file():
        hf, base = _from_adapter(path, prompt, device, dtype)
        source = path if (Path(path) / "tokenizer_config.json").is_file() else base
        return hf, tokenizer or AutoTokenizer.from_pretrained(source), None
    config = AutoConfig.from_pretrained(path)
    hf, head = _weights(path, config, prompt, device, dtype)
    images = family_of(config.model_type).images
    return hf, tokenizer or (_processor(path) if images else AutoTokenizer.from_pretrained(path)), head


def _weights(
    path: str, config: PreTrainedConfig, prompt: Prompt | None, device: torch.device, dtype: Any
) -> tuple[PreTrainedModel, tuple[AssayHead, dict[str, Any]] | None]:
    settings = _head_settings(path)
    auto: Any = T5EncoderModel if settings and config.model_type == "t5" else _auto_class(path, config, prompt)
    # Only safetensors: a pickled checkpoint can run code.
    hf, info = auto.from_pretrained(
        path, dtype=_dtype(dtype, config, device), use_safetensors=True, output_loading_info=True
    )
    missing = sorted(info["missing_keys"])
    if missing:
        raise ModelError(f"{path}: the checkpoint has no weights for {', '.join(missing[:4])}; {HEADLESS}")
    hf = hf.to(device)
    if settings is None:
        return hf, None
    head = _new_head(settings, config)
    head.load_state_dict(load_file(str(Path(path) / "head.safetensors")))
    return hf, (AssayHead(head.to(hf.device, hf.dtype).eval().requires_grad_(False)), settings)


def _head_settings(folder: str | Path) -> dict[str, Any] | None:
    """Name, labels and task of the head of Assay's that was saved in a folder, if there is one."""
    path = Path(folder) / HEAD_SETTINGS
    settings: dict[str, Any] | None = json.loads(path.read_text()) if path.is_file() else None
    return settings


def _new_head(settings: dict[str, Any], config: PreTrainedConfig) -> nn.Module:
    head: nn.Module = HEADS.get(settings["head"])(config.hidden_size, len(settings["labels"]))
    return head


def _auto_class(path: str, config: PreTrainedConfig, prompt: Prompt | None) -> Any:
    if prompt is not None:
        return AutoModelForCausalLM
    (architecture,) = (config.architectures or ["none"])[:1]
    _check_head(path, architecture, config)
    return AutoModelForImageClassification if "ForImage" in architecture else AutoModelForSequenceClassification


def _check_head(name: str, architecture: str, config: PreTrainedConfig) -> None:
    """Raise unless the architecture classifies whole inputs with only an encoder or only a decoder."""
    if config.is_encoder_decoder or not architecture.endswith(("ForSequenceClassification", "ForImageClassification")):
        raise ModelError(f"{name} is a {architecture}, which has no classification head; {HEADLESS}")


def _from_adapter(path: str, prompt: Prompt | None, device: torch.device, dtype: Any) -> tuple[PreTrainedModel, str]:
    """The adapted model and the name of its base; the head is the adapter's or, if it has none, the base model's."""
    try:
        from peft import AutoPeftModelForCausalLM, AutoPeftModelForSequenceClassification, PeftConfig
    except ImportError as error:
        raise ModelError(f"{path} is a PEFT adapter; install PEFT with: pip install 'assay[peft]'") from error
    base = str(PeftConfig.from_pretrained(path).base_model_name_or_path)
    classes = _adapted_classes(Path(path) / "adapter_model.safetensors")
    if prompt is None and classes is None:
        _auto_class(base, AutoConfig.from_pretrained(base), prompt)
    auto = AutoPeftModelForSequenceClassification if prompt is None else AutoPeftModelForCausalLM
    more: dict[str, Any] = {} if prompt is not None or classes is None else {"num_labels": classes}
    wrapped = auto.from_pretrained(path, dtype=dtype or torch.float32, use_safetensors=True, **more)
    hf: PreTrainedModel = hooks.unwrap_peft(wrapped.to(device))
    return hf, base


def _adapted_classes(weights: Path) -> int | None:
    """Number of classes of the head that was saved with an adapter; None if none was saved."""
    if not weights.is_file():
        raise ModelError(f"{weights} does not exist; only safetensors are read, because a pickled adapter can run code")
    heads = ("score.weight", "classifier.weight", "classifier.out_proj.weight")
    return next((len(tensor) for name, tensor in load_file(str(weights)).items() if name.endswith(heads)), None)


def _dtype(dtype: Any, config: PreTrainedConfig, device: torch.device) -> Any:
    if dtype is not None:
        return dtype
    # Half precision is slow and imprecise on a CPU, so such checkpoints are computed in float32.
    return torch.float32 if device.type == "cpu" else getattr(config, "dtype", None) or torch.float32


def _processor(path: str) -> Any:
    try:
        return AutoImageProcessor.from_pretrained(path, backend="pil")
    except ImportError as error:
        raise ModelError("images need Pillow; install it with: pip install 'assay[images]'") from error


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0].rstrip(".") if str(error).strip() else type(error).__name__


# --- from objects ------------------------------------------------------------------------------------------------


def _is_transformers(model: Any) -> bool:
    """A transformers model, also inside PEFT, or a transformers pipeline; all of these can be called."""
    return _is_pipeline(model) or isinstance(hooks.unwrap_peft(model), PreTrainedModel)


def _is_pipeline(model: Any) -> bool:
    reads = hasattr(model, "tokenizer") or hasattr(model, "image_processor")
    return hasattr(model, "model") and reads and hasattr(model, "task")


def _from_objects(model: Any, tokenizer: Any) -> tuple[str, PreTrainedModel, Any]:
    if isinstance(model, tuple) and len(model) == 2:
        model, tokenizer = model
    elif _is_pipeline(model):
        model, tokenizer = model.model, tokenizer or model.tokenizer or model.image_processor
    hf = hooks.unwrap_peft(model)
    if not isinstance(hf, PreTrainedModel):
        raise ModelError(
            f"unsupported model type {type(model).__name__}; give a folder, a hub id, a (model, tokenizer) pair, "
            "a transformers pipeline, a transformers model with tokenizer=, or a function from texts to numbers"
        )
    if tokenizer is None:
        raise ModelError("no tokenizer was given; call load_model(model, tokenizer)")
    return hf.config.name_or_path or type(hf).__name__, hf, tokenizer


# --- assembling --------------------------------------------------------------------------------------------------


def _assemble(
    name: str,
    hf: PreTrainedModel,
    reader: Any,
    head: tuple[AssayHead, dict[str, Any]] | None,
    task: str | None,
    labels: Sequence[str] | Mapping[str, str] | None,
    prompt: Prompt | None,
) -> Model:
    family = family_of(hf.config.model_type)
    causal = family.causal or prompt is not None or hooks.reads_last_token(hf)
    if family.images:
        encoder: TextEncoder | ImageEncoder = _image_encoder(hf, reader, family)
        reader = None
    else:
        if not getattr(reader, "is_fast", False):
            raise ModelError(
                f"{type(reader).__name__} gives no character offsets, which scores need; "
                "convert it to a fast tokenizer (tokenizer.json) with transformers"
            )
        first = _first_position(hf, family)
        encoder = TextEncoder(reader, _limit(hf, reader, first), first, causal, prompt)
    readout, names = _readout(hf, reader, head, prompt, labels, causal=causal)
    task = task or (head[1]["task"] if head else _task(hf, len(names), prompt))
    return Model(name, hf, family, encoder, readout, names, task, reader)


def _readout(
    hf: PreTrainedModel,
    tokenizer: Any,
    head: tuple[AssayHead, dict[str, Any]] | None,
    prompt: Prompt | None,
    labels: Sequence[str] | Mapping[str, str] | None,
    *,
    causal: bool,
) -> tuple[Readout, tuple[str, ...]]:
    if prompt is not None:
        if not hf.can_generate() or hf.config.is_encoder_decoder:
            raise ModelError(f"a prompt needs a causal language model, but {type(hf).__name__} is not one")
        if not labels:
            raise ModelError("a prompt needs labels={'name': ' word', ...}: for each label the word that follows it")
        words = labels if isinstance(labels, Mapping) else {word.strip(): word for word in labels}
        return LabelWords(label_tokens(tokenizer, prompt, words)), tuple(words)
    if head is not None:
        return head[0], _renamed(head[1]["labels"], labels)
    _check_head("the model given", type(hf).__name__, hf.config)
    table: dict[int, str] = hf.config.id2label  # type: ignore[assignment]
    names = [table[i] for i in sorted(table)]
    return LastToken() if causal else StockHead(), _renamed(names, labels)


def _renamed(names: Sequence[str], labels: Sequence[str] | Mapping[str, str] | None) -> tuple[str, ...]:
    if labels is None:
        return tuple(names)
    if isinstance(labels, Mapping) or len(labels) != len(names):
        raise ModelError(f"labels= must be a list of {len(names)} names to replace {', '.join(names)}")
    return tuple(labels)


def _task(hf: PreTrainedModel, classes: int, prompt: Prompt | None) -> str:
    if prompt is not None:
        return "classification"
    if hf.config.problem_type == "multi_label_classification":
        return "multi_label"
    return "regression" if classes == 1 else "classification"


def _first_position(hf: PreTrainedModel, family: Family) -> int:
    if family.positions != "after_pad":
        return 0
    lookup = hooks.word_module(hf, family)
    padding: int | None = getattr(lookup, "padding_idx", None)
    return int(hf.config.pad_token_id if padding is None else padding) + 1


def _limit(hf: PreTrainedModel, tokenizer: Any, first: int) -> int:
    """Number of positions the model can read. T5 has relative positions without a limit: the tokenizer's counts."""
    config = hf.config.get_text_config()
    embedded = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None)
    limits = [tokenizer.model_max_length] + ([embedded - first] if embedded else [])
    finite = [int(n) for n in limits if 0 < n < 10**7]
    return min(finite) if finite else 512


def _image_encoder(hf: PreTrainedModel, processor: Any, family: Family) -> ImageEncoder:
    patch = hf.config.patch_size
    return ImageEncoder(processor, patch if isinstance(patch, int) else patch[0], family.lead)
