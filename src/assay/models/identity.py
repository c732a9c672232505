"""What changes a model's answers besides its weights: its configuration, and its tokenizer or image processor."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from transformers import PreTrainedConfig

# Names, paths and versions; labels and task, which the identity of a model holds as the caller gave them; and the
# precision, which the weights have.
IRRELEVANT = {
    *("_name_or_path", "name_or_path", "_commit_hash", "transformers_version", "architectures", "auto_map"),
    *("id2label", "label2id", "num_labels", "problem_type", "processor_class", "dtype", "torch_dtype"),
}


def config_hash(config: PreTrainedConfig) -> str:
    """SHA-256 of the configuration: activation functions, numbers of heads, scales, windows, ..."""
    return _hash(_relevant(config.to_dict()))


def tokenizer_hash(tokenizer: Any) -> str:
    """SHA-256 of a fast tokenizer: vocabulary, rules and special tokens, without the length of the last call."""
    rules = json.loads(tokenizer.backend_tokenizer.to_str())
    special = {name: str(token) for name, token in tokenizer.special_tokens_map.items()}
    inputs = sorted(tokenizer.model_input_names)
    return _hash([{**rules, "truncation": None, "padding": None}, special, inputs])


def processor_hash(processor: Any) -> str:
    """SHA-256 of the settings of an image processor: size, crop, mean, ..."""
    return _hash(_relevant(processor.to_dict()))


def _relevant(settings: Any) -> Any:
    """Settings at every depth, as configurations hold others."""
    if isinstance(settings, Mapping):
        return {str(key): _relevant(value) for key, value in settings.items() if key not in IRRELEVANT}
    return [_relevant(value) for value in settings] if isinstance(settings, list | tuple) else settings


def _hash(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()
