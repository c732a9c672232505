"""`load_model` and `save_model`: from a folder, hub id, (model, tokenizer) pair or pipeline to a Model and back."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import nn
from transformers import PreTrainedModel

from assay.core.errors import ModelError, SpecError, nearest
from assay.models import hooks
from assay.models.chat import Messages, filled_in
from assay.models.encode import ImageEncoder, TextEncoder
from assay.models.families import Family, family_of
from assay.models.from_folder import Parts, SavedHead, check_head, read_parts, read_without_weights, save_head
from assay.models.function import function_model, is_function, refuse_options
from assay.models.imported import import_model, is_import
from assay.models.model import Model
from assay.models.placement import device_of
from assay.models.prompt import Prompt, label_tokens
from assay.models.readout import AssayHead, LabelWords, LastToken, Readout, StockHead
from assay.models.source import BUILTIN as BUILTIN
from assay.models.source import Source

TASKS = ("classification", "multi_label", "regression")
Labels = Sequence[str] | Mapping[str, str]


def load_model(
    model: Any,
    tokenizer: Any = None,
    *,
    task: str | None = None,
    labels: Labels | str | None = None,
    prompt: str | Prompt | Messages | None = None,
    device: str | torch.device | None = None,
    dtype: str | torch.dtype | None = None,
    max_length: int | None = None,
    trust_remote_code: bool = False,
    **function: Any,
) -> Model:
    """Load a model to explain.

    model: a folder, a hub id, "builtin", a (model, tokenizer) pair, a transformers pipeline, or a transformers model
    together with `tokenizer`. Or any model behind a function that takes a list of texts (or of pairs of texts) and
    returns a row of numbers for each; a scikit-learn pipeline; a torch module that takes texts; or
    "module:attribute", which imports one of these.
    task: "classification", "multi_label" or "regression"; None infers it.
    labels: a list of names for the classes; with `prompt`, a dict {name: word that follows the prompt}. Or a text:
    "negative,positive"; "negative= bad,positive= good".
    prompt: a template with a {text} slot, which turns a causal language model into a classifier; "chat: ..." or a list
    of {"role": ..., "content": ...} follows the model's chat template.
    device, dtype: where and in which precision to load the weights.
    max_length: truncate texts to this number of positions.
    trust_remote_code: run Python code that the folder or hub id brings. Without it no foreign code runs.
    function: for a function only: outputs, mask, name, version, batch_size, retries, per_second, max_calls and cache;
    see `FunctionSettings` and the guide docs/functions.md.
    """
    labels = as_labels(labels)
    given = {"tokenizer": tokenizer, "task": task, "labels": labels, "prompt": prompt, "device": device, "dtype": dtype}
    if task is not None and task not in TASKS:
        raise ModelError(f"unknown task {task!r}; {nearest(str(task), TASKS)}")
    if isinstance(model, str) and is_import(model):
        path, model = model, import_model(model)
        function = {"name": path, **function} if _is_function(model) else function
    if _is_function(model):
        loaded = _from_function(model, given, function)
    else:
        refuse_options(function, str(model) if isinstance(model, str | Path) else type(model).__name__)
        loaded = _loaded_already(model, given) if isinstance(model, Model) else _load(model, trust_remote_code, **given)
    return loaded if max_length is None else loaded.limited(max_length)


def _loaded_already(model: Model, given: Mapping[str, Any]) -> Model:
    if refused := [name for name, value in given.items() if value is not None]:
        raise ModelError(f"{', '.join(refused)}: this model is loaded already; give such options when you load it")
    return model


def _from_function(model: Any, given: Mapping[str, Any], function: dict[str, Any]) -> Model:
    if refused := [name for name in ("tokenizer", "prompt", "device", "dtype") if given[name] is not None]:
        raise SpecError(f"{', '.join(refused)}: not for a model behind a function; leave it out")
    return function_model(model, given["labels"], given["task"], function)


def _load(
    model: Any, trust_remote_code: bool, *, tokenizer: Any, task: Any, labels: Any, prompt: Any, device: Any, dtype: Any
) -> Model:
    check_labels(labels, prompted=prompt is not None)
    if isinstance(model, str | Path):
        source = Source(str(model), trust_remote_code)
        parts = read_parts(source, tokenizer, prompted=prompt is not None, device=device, dtype=dtype)
        return _assemble(source.name, parts, task, labels, prompt)
    if dtype is not None:
        raise ModelError("dtype= works only for a folder or hub id; convert a model in memory with model.to(dtype)")
    name, hf, reader = _from_objects(model, tokenizer)
    if device is not None and getattr(hf, "hf_device_map", None) is None:
        hf.to(device_of(device))  # type: ignore[arg-type]
    return _assemble(name, Parts(hf, reader, None), task, labels, prompt)


def assemble(
    hf: PreTrainedModel, reader: Any, *, name: str, task: str, labels: Sequence[str], head: nn.Module | None = None
) -> Model:
    """A Model from parts in memory, for training: a transformers classifier, or an encoder with a head of Assay's."""
    saved = None if head is None else SavedHead(AssayHead(head), tuple(labels), task)
    return _assemble(name, Parts(hf, reader, saved), task, labels, None)


def load_without_weights(folder: str | Path, fingerprint: str) -> Model:
    """A saved model whose weights were deleted: it can encode texts and be described in a report, but not run."""
    model = _assemble(Path(folder).name, read_without_weights(Path(folder)), None, None, None)
    return replace(model, known_fingerprint=fingerprint)


def save_model(model: Model, folder: str | Path) -> None:
    """Save to a folder that `load_model` can read: safetensors, plus assay.json if the model has a head of Assay's."""
    folder = Path(folder)
    model.hf.save_pretrained(folder)
    reader = model.tokenizer or (model.encoder.processor if isinstance(model.encoder, ImageEncoder) else None)
    if reader is not None:
        reader.save_pretrained(folder)
    if model.head is not None:
        save_head(model.head, folder, model.labels, model.task)


def check_exists(base: str) -> None:
    """Raise if no model can be loaded from a folder or hub id."""
    source = Source(base)
    with source.readable_errors():
        source.config()


def as_labels(labels: Any) -> Any:
    """Labels written as a text, "negative,positive" or "negative= bad,positive= good"; spaces belong to the words."""
    if not isinstance(labels, str):
        return labels
    pairs = [part.partition("=") for part in labels.split(",")]
    if "=" not in labels:
        return [name.strip() for name, _, _ in pairs]
    if not all(word for _, _, word in pairs):
        raise ModelError(
            f"cannot read the labels {labels!r}; write name,... or, with a prompt, name=word,... such as "
            "'positive= good,negative= bad'"
        )
    return {name.strip(): word for name, _, word in pairs}


def check_labels(labels: object, *, prompted: bool) -> None:
    """Raise unless the labels are names that differ; for a prompt, at least two."""
    form = "{'negative': ' bad', 'positive': ' good'}" if prompted else "['negative', 'positive']"
    if labels is None:
        return
    names = list(labels) if isinstance(labels, Mapping | list | tuple) else None
    words = [*(names or []), *(labels.values() if isinstance(labels, Mapping) else ())]
    if names is None or not all(isinstance(word, str) and word.strip() for word in words):
        raise ModelError(f"labels={labels!r} are not names of classes; give them like {form}")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ModelError(f"the label {twice[0]!r} is given twice; every class needs a name of its own")
    if prompted and len(names) < 2:
        raise ModelError(f"a prompt needs at least two labels, because they are compared; give them like {form}")


# --- from objects ------------------------------------------------------------------------------------------------


def _is_function(model: Any) -> bool:
    return is_function(model) and not isinstance(model, Model) and not _is_transformers(model)


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


def _assemble(name: str, parts: Parts, task: str | None, labels: Labels | None, prompt: Any) -> Model:
    hf, reader, head = parts
    family = family_of(hf.config.model_type)
    causal = family.causal or prompt is not None or hooks.reads_last_token(hf)
    if family.images:
        encoder: TextEncoder | ImageEncoder = _image_encoder(hf, reader, family)
        reader = None
    else:
        _check_tokenizer(hf, reader, family)
        prompt = None if prompt is None else filled_in(prompt, reader)
        first = _first_position(hf, family)
        encoder = TextEncoder(reader, _limit(hf, reader, first), first, causal, prompt)
    readout, names = _readout(parts, prompt, labels, causal=causal)
    task = task or (head.task if head else _task(hf, len(names), prompt))
    return Model(name, hf, family, encoder, readout, names, task, reader)


def _check_tokenizer(hf: PreTrainedModel, tokenizer: Any, family: Family) -> None:
    """Raise unless the tokenizer gives offsets and the model has an embedding for each of its tokens."""
    if not getattr(tokenizer, "is_fast", False):
        raise ModelError(
            f"{type(tokenizer).__name__} gives no character offsets, which scores need; "
            "convert it to a fast tokenizer (tokenizer.json) with transformers"
        )
    rows = getattr(hooks.word_module(hf, family), "num_embeddings", None)
    if rows is not None and len(tokenizer) > rows:
        raise ModelError(
            f"the tokenizer has {len(tokenizer):,} tokens, but the model has embeddings for {rows:,}: it belongs to "
            "another model; give the tokenizer that the model was trained with"
        )


def _readout(
    parts: Parts, prompt: Prompt | None, labels: Labels | None, *, causal: bool
) -> tuple[Readout, tuple[str, ...]]:
    hf = parts.hf
    if prompt is not None:
        if not hf.can_generate() or hf.config.is_encoder_decoder:
            raise ModelError(f"a prompt needs a causal language model, but {type(hf).__name__} is not one")
        if not labels:
            raise ModelError("a prompt needs labels={'name': ' word', ...}: for each label the word that follows it")
        words = labels if isinstance(labels, Mapping) else {word.strip(): word for word in labels}
        return LabelWords(label_tokens(parts.reader, prompt, words)), tuple(words)
    if parts.head is not None:
        return parts.head.readout, _renamed(parts.head.labels, labels)
    check_head("the model given", type(hf).__name__, hf.config)
    table: dict[int, str] = hf.config.id2label  # type: ignore[assignment]
    names = [table[i] for i in sorted(table)]
    return LastToken() if causal else StockHead(), _renamed(names, labels)


def _renamed(names: Sequence[str], labels: Labels | None) -> tuple[str, ...]:
    if labels is None:
        return tuple(names)
    if isinstance(labels, Mapping):
        raise ModelError("labels with words go with a prompt; a classifier takes a list of names in their order")
    if len(labels) != len(names):
        raise ModelError(
            f"the model has {len(names)} classes ({', '.join(names)}), but labels names {len(labels)}; "
            "give one name for each, in this order"
        )
    if list(labels) != list(names) and sorted(labels) == sorted(names):
        warnings.warn(
            f"labels= names the classes in another order than the model's configuration: {', '.join(names)}; "
            f"output 0 is now called {labels[0]!r}. If the configuration is right, leave labels out",
            stacklevel=2,
        )
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
    size = patch if isinstance(patch, int) else patch[0]
    return ImageEncoder(processor, size, family.lead, getattr(hf.config, "num_channels", 3))
