"""The folder of a training: a checkpoint while it runs; then the model and training.json, which says how it came."""

from __future__ import annotations

import json
import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from assay.core.errors import AssayError
from assay.core.spec import Spec
from assay.datasets.dataset import Dataset
from assay.models import hooks
from assay.models.load import save_model
from assay.models.model import Model
from assay.training import checkpoint
from assay.training.history import History
from assay.training.recipe import Recipe

CARD = "training.json"  # written last: a folder that has it is finished
OURS = (CARD, "config.json", "model.safetensors", "model.safetensors.index.json", "head.safetensors", "assay.json")


def prepare(folder: Path, base: str | Path | Spec, *, overwrite: bool) -> Path:
    """The folder to train in: a new one, an empty one, one with an unfinished training, or with `overwrite` any."""
    folder = folder.expanduser()
    if folder.exists() and not folder.is_dir():
        raise AssayError(f"{folder} is a file; name a folder")
    if Path(str(base)).expanduser().resolve() == folder.resolve():
        raise AssayError(f"{folder} is also the base; a kill would lose both, so name another folder")
    if overwrite:
        return folder
    if (folder / CARD).exists():
        raise AssayError(f"{folder} holds a finished training; name another folder or overwrite it (--overwrite)")
    if folder.is_dir() and any(folder.iterdir()) and not any(folder.glob("checkpoint.*")):
        raise AssayError(f"{folder} is not empty and holds no unfinished training; name another folder or overwrite it")
    return folder


def finish(folder: Path, model: Model, about: dict[str, Any]) -> None:
    """Save the model, then the card; the checkpoint goes last, so that a kill in between costs nothing."""
    if model.tokenizer is not None:
        model.tokenizer.backend_tokenizer.no_truncation()  # the setting of the last call would be saved
    with hooks.quiet():
        save_model(model, folder)
    part = folder / f"{CARD}.part"
    part.write_text(json.dumps(about, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    os.replace(part, folder / CARD)
    checkpoint.remove(folder)


def card(
    model: Model, base: str | Path | Spec, recipe: Recipe, history: History, train: Dataset, validation: Dataset
) -> dict[str, Any]:
    """All that could change the weights, what came out, and on what it ran."""
    kept = history.kept
    return {
        "base": _name(base),
        "task": model.task,
        "labels": list(model.labels),
        "max_length": getattr(model.encoder, "limit", None),
        "recipe": recipe.to_json(),
        "data": {"train": _data(train), "validation": _data(validation)},
        "validation": None if kept is None else dict(kept.scores),
        "fingerprint": model.fingerprint,
        "history": history.to_json(),
        "versions": {name: version(name) for name in ("assay", "torch", "transformers", "tokenizers", "numpy")},
        "python": platform.python_version(),
        "device": str(model.device),
        "threads": torch.get_num_threads(),
    }


def _data(data: Dataset) -> dict[str, Any]:
    return {"name": data.name, "split": data.split, "examples": len(data), "fingerprint": data.fingerprint}


def _name(base: str | Path | Spec) -> str:
    """A folder by its last part: where it lies on this machine says nothing."""
    path = Path(str(base)).expanduser()
    return path.name if path.is_dir() else str(base)


def clear(folder: Path) -> None:
    """Remove what a training writes, and nothing else: another head's files would be read with the new weights."""
    for name in OURS:
        (folder / name).unlink(missing_ok=True)
    checkpoint.remove(folder)
