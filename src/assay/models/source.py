"""Source: what a folder or hub id holds, read through transformers.

The files are other people's: code in them runs only if the caller trusts it, and whatever is wrong with them is one
sentence.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import transformers
from safetensors import SafetensorError
from transformers import AutoConfig, AutoTokenizer, PreTrainedConfig, PreTrainedModel

from assay.core.errors import AssayError, ModelError
from assay.models import hooks
from assay.models.families import family_of
from assay.models.imported import is_import

BUILTIN = Path(__file__).parent / "builtin"
ADAPTER = "adapter_config.json"
BLOCK = re.compile(r"\.\d+\.")
UNUSED = ("inv_freq", "masked_bias", "position_ids")  # buffers of older checkpoints, which transformers computes itself
VOCABULARIES = (
    "tokenizer.json", "vocab.txt", "vocab.json", "tokenizer.model", "spiece.model", "sentencepiece.bpe.model",
    "spm.model", "tekken.json",
)  # fmt: skip
HEADLESS = (
    "Assay explains trained classifiers: fine-tune one, load a *ForSequenceClassification or *ForImageClassification "
    "checkpoint, or give prompt= and labels= to classify with a causal language model"
)
OWN_CONFIG = "use the config.json that was saved with the weights"
TRUST = "check the code and allow it with --trust-remote-code (Python: trust_remote_code=True)"


@dataclass(frozen=True)
class Source:
    """A folder, a hub id or "builtin"; code that it brings runs only with `trust_remote_code`."""

    name: str
    trust_remote_code: bool = False

    @property
    def path(self) -> str:
        return str(BUILTIN) if self.name == "builtin" else str(Path(self.name).expanduser())

    @property
    def folder(self) -> Path | None:
        """The folder, or None for a hub id."""
        return Path(self.path) if Path(self.path).is_dir() else None

    @contextmanager
    def readable_errors(self) -> Iterator[None]:
        """One sentence for whatever transformers, safetensors or tokenizers raise: damaged files raise anything."""
        if not self.name:
            raise ModelError("no model was named; give a folder, a hub id or 'builtin'")
        if is_import(self.name):
            raise ModelError(
                f"{self.name} is Python code, but the files of a model are needed: give a folder or hub id"
            )
        if Path(self.path).is_file():
            raise ModelError(f"{self.name} is a file; give the folder that holds it, with config.json and tokenizer")
        if self.folder is not None and not any((self.folder / name).is_file() for name in ("config.json", ADAPTER)):
            raise ModelError(f"the folder {self.name} holds no model: it has no config.json; give another folder")
        try:
            with hooks.quiet(), _quiet_log():
                yield
        except AssayError:
            raise
        except Exception as error:
            raise ModelError(f"cannot load {self.name!r}: {self._reason(error)}") from error

    def _reason(self, error: Exception) -> str:
        if isinstance(error, SafetensorError):
            return f"its weights are damaged or incomplete ({error}); download or save them again"
        if "custom code" in str(error):
            return f"it brings Python code of its own, which Assay does not run unasked; {TRUST}"
        damaged = None if self.folder is None else _damaged(self.folder)
        if damaged or isinstance(error, OSError | ValueError):
            return damaged or f"{_first(error)}; give a folder or a hub id"
        return f"transformers cannot build it ({type(error).__name__}: {_first(error)}); check its config.json"

    # --- parts -------------------------------------------------------------------------------------------------------

    def config(self) -> PreTrainedConfig:
        config: PreTrainedConfig = AutoConfig.from_pretrained(self.path, trust_remote_code=self.trust_remote_code)
        if not self.trust_remote_code:
            self._check_code(config)
        return config

    def _check_code(self, config: PreTrainedConfig) -> None:
        """Code for a type that transformers knows is left aside; an attention function from the hub is refused."""
        if "/" in str(config._attn_implementation):
            raise ModelError(
                f"cannot load {self.name!r}: its config.json fetches code for attention from "
                f"{config._attn_implementation!r}, which Assay does not run unasked; {TRUST}"
            )
        if getattr(config, "auto_map", None):
            self._warn_of_code(config.model_type)

    def _warn_of_code(self, instead: str) -> None:
        warnings.warn(
            f"{self.name} brings Python code of its own, which was not run: the {instead} of transformers takes its "
            f"place; if they differ, {TRUST}",
            stacklevel=5,
        )

    def reader(self, config: PreTrainedConfig) -> Any:
        """The tokenizer, or the processor of an image model."""
        return self.processor() if family_of(config.model_type).images else self.tokenizer()

    def tokenizer(self) -> Any:
        missing = ModelError(f"{self.name} has no tokenizer; save the model's own tokenizer in the same folder")
        folder = Path(self.path)
        if folder.is_dir() and not any((folder / name).is_file() for name in VOCABULARIES):
            raise missing  # transformers would make one of special tokens alone
        try:
            tokenizer = AutoTokenizer.from_pretrained(self.path, trust_remote_code=self.trust_remote_code)
        except ValueError as error:
            raise missing if "backend tokenizer" in str(error) else error from error
        if tokenizer.init_kwargs.get("auto_map") and not self.trust_remote_code:
            self._warn_of_code(type(tokenizer).__name__)
        return tokenizer

    def processor(self) -> Any:
        try:
            reader = hooks.image_processor()
            return reader.from_pretrained(self.path, backend="pil", trust_remote_code=self.trust_remote_code)
        except ImportError as error:
            raise ModelError("images need Pillow; install it with: pip install 'assay[images]'") from error

    def open(self, auto: Any, config: PreTrainedConfig, dtype: Any) -> tuple[PreTrainedModel, dict[str, Any]]:
        """The model, and what transformers says about weights that are missing or do not fit."""
        hf, info = auto.from_pretrained(
            self.path,
            config=config,
            dtype=dtype,
            use_safetensors=True,  # a pickled checkpoint can run code
            output_loading_info=True,
            ignore_mismatched_sizes=True,
            trust_remote_code=self.trust_remote_code,
        )
        left = sorted(k for k in info["unexpected_keys"] if BLOCK.search(k) and not k.endswith(UNUSED))
        if left:  # heads and poolers of other tasks may be left over, but no part of a block
            raise ModelError(
                f"{self.name}: config.json describes a smaller model than the weights: it has no place for {left[0]} "
                f"and {len(left) - 1} more; {OWN_CONFIG}"
            )
        return hf, info

    def weights(self, auto: Any, config: PreTrainedConfig, dtype: Any) -> PreTrainedModel:
        """The model with exactly the weights that the files hold: none missing, none of another shape."""
        hf, info = self.open(auto, config, dtype)
        for key, saved, needed in sorted(info["mismatched_keys"]):
            raise ModelError(
                f"{self.name}: config.json does not fit the weights: {key} has the shape {list(saved)}, but the "
                f"configuration needs {list(needed)}; {OWN_CONFIG}"
            )
        if missing := sorted(info["missing_keys"]):
            advice = OWN_CONFIG if BLOCK.search(missing[0]) else HEADLESS
            raise ModelError(f"{self.name}: the checkpoint has no weights for {', '.join(missing[:4])}; {advice}")
        return hf


def _damaged(folder: Path) -> str | None:
    """The first of a folder's JSON files that is not one, as a sentence."""
    for path in sorted(folder.glob("*.json")):
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            return f"{path.name} cannot be read ({_first(error)}); download or save it again"
        if not isinstance(content, dict):
            return f"{path.name} is not a JSON object; download or save it again"
    return None


def _first(error: Exception) -> str:
    """The first line of an error's message; the first two if the first only announces the second."""
    lines = [line.strip() for line in str(error).strip().splitlines() if line.strip()] or [type(error).__name__]
    return " ".join(lines[: 2 if lines[0].endswith(":") else 1]).rstrip(".")


@contextmanager
def _quiet_log() -> Iterator[None]:
    """Silence the log of transformers: what it reports about weights is checked here."""
    level = transformers.logging.get_verbosity()
    transformers.logging.set_verbosity_error()
    try:
        yield
    finally:
        transformers.logging.set_verbosity(level)
