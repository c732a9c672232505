"""The output folder of a training run: a checkpoint while it runs, then the model and training.json."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from assay.core.errors import AssayError, StoreError
from assay.core.files import check_folder_writable, replacing
from assay.core.locks import only_writer
from assay.core.spec import Spec
from assay.datasets.dataset import Dataset
from assay.models import hooks
from assay.models.load import save_model
from assay.models.model import Model
from assay.training.checkpoint import remove_checkpoint
from assay.training.history import History
from assay.training.recipe import Recipe

CARD = "training.json"  # written last: marks a finished run
LOCK = "training.lock"  # held while a process trains in the folder
FILES = (
    *(CARD, "config.json", "model.safetensors", "model.safetensors.index.json", "head.safetensors", "assay.json"),
    *("adapter_config.json", "adapter_model.safetensors"),
)


def check_folder(folder: Path, base: str | Path | Spec, *, overwrite: bool) -> Path:
    """Check that a folder is new, empty, or holds an unfinished training run; with `overwrite`, accept any."""
    folder = folder.expanduser()
    if folder.exists() and not folder.is_dir():
        raise AssayError(f"{folder} is a file; choose a folder")
    if Path(str(base)).expanduser().resolve() == folder.resolve():
        raise AssayError(f"{folder} is also the base model; choose another folder")
    if not overwrite and (folder / CARD).exists():
        raise AssayError(f"{folder} holds a finished training run; choose another folder or overwrite it (--overwrite)")
    others = folder.is_dir() and any(file.name != LOCK for file in folder.iterdir())
    if not overwrite and others and not any(folder.glob("checkpoint.*")):
        raise AssayError(f"{folder} is not empty; choose another folder or overwrite it (--overwrite)")
    check_folder_writable(folder)
    return folder


@contextmanager
def training_in(folder: Path | None) -> Iterator[None]:
    """Keep other trainings out of a folder."""
    if folder is None:
        yield
        return
    try:
        with only_writer(folder / LOCK, f"a training in {folder}"):
            yield
    finally:
        with suppress(OSError):  # not empty: the training began
            folder.rmdir()


def save_run(
    folder: Path, model: Model, card: dict[str, Any], save: Callable[[Model, Path], None] = save_model
) -> None:
    """Save the model, then the card, and remove the checkpoint last, so that an interruption loses nothing."""
    if model.tokenizer is not None:
        model.tokenizer.backend_tokenizer.no_truncation()  # otherwise the setting of the last call is saved
    try:
        with hooks.quiet():
            save(model, folder)
        with replacing(folder / CARD) as out:
            out.write((json.dumps(card, indent=1, ensure_ascii=False) + "\n").encode())
    except Exception as error:  # safetensors and tokenizers have errors of their own for a full disk
        raise StoreError(
            f"cannot save the model in {folder}: {getattr(error, 'strerror', None) or error}; "
            "free space and run the same command again: the training is kept in its checkpoint"
        ) from error
    remove_checkpoint(folder)


def training_card(
    folder: Path,
    model: Model,
    base: str | Path | Spec,
    recipe: Recipe,
    history: History,
    train: Dataset,
    validation: Dataset,
) -> dict[str, Any]:
    """Everything that can change the weights, the results, and the environment."""
    best = history.best_check
    return {
        "base": _base_name(base),
        "base_folder": _base_folder(base, folder),
        "task": model.task,
        "labels": list(model.labels),
        "max_length": getattr(model.encoder, "limit", None),
        "recipe": recipe.to_json(),
        "data": {"train": _data(train), "validation": _data(validation)},
        "validation": None if best is None else dict(best.scores),
        "fingerprint": model.fingerprint,
        "history": history.to_json(),
        "versions": {name: version(name) for name in ("assay", "torch", "transformers", "tokenizers", "numpy")},
        "python": platform.python_version(),
        "device": str(model.device),
        "threads": torch.get_num_threads(),
    }


def _data(data: Dataset) -> dict[str, Any]:
    return {"name": data.name, "split": data.split, "examples": len(data), "fingerprint": data.fingerprint}


def _base_name(base: str | Path | Spec) -> str:
    """A folder by its last part: its location on this machine is irrelevant."""
    path = Path(str(base)).expanduser()
    return path.name if path.is_dir() else str(base)


def _base_folder(base: str | Path | Spec, folder: Path) -> str | None:
    """Where a base folder is, seen from the trained model: students start there. None for a hub id or a size."""
    path = Path(str(base)).expanduser()
    return os.path.relpath(path.resolve(), folder.resolve()) if path.is_dir() else None


def clear_folder(folder: Path) -> None:
    """Remove the files that a training run writes, and nothing else: load_model would mix them with the new ones."""
    for name in FILES:
        (folder / name).unlink(missing_ok=True)
    remove_checkpoint(folder)
