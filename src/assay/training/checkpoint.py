"""Checkpoints of unfinished training runs: a single file, written atomically."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from assay.core.errors import AssayError, StoreError
from assay.core.files import replacing

NAME = "checkpoint.pt"
SPACING = 50  # time between checkpoints, in units of the time one takes to write: 2 % overhead


def write_checkpoint(folder: Path, state: Mapping[str, Any]) -> None:
    path = folder / NAME
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(path) as out:
            torch.save(dict(state), out)
    except (OSError, RuntimeError) as error:  # RuntimeError: how torch.save reports a full disk
        raise StoreError(f"cannot write the checkpoint {path}: {error}; free space or choose another folder") from error


def read_checkpoint(folder: Path, identity: str) -> dict[str, Any] | None:
    """The state saved in a folder, if any; `identity` (recipe, data and model) must match."""
    path = folder / NAME
    if not path.is_file():
        return None
    try:
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)  # never runs code
    except Exception as error:
        what = f"it is damaged, or no checkpoint ({type(error).__name__})"  # torch's own text advises to run its code
        raise AssayError(f"cannot read the checkpoint {path}: {what}; delete it and train again") from error
    if not isinstance(state, dict) or "identity" not in state:
        raise AssayError(f"{path} is not a checkpoint of a training; delete it and train again")
    if state["identity"] != identity:
        raise AssayError(
            f"{folder} contains an unfinished training run with a different recipe, data or model; "
            "resume with the same settings, choose another folder, or overwrite it"
        )
    return state


def remove_checkpoint(folder: Path) -> None:
    for path in (folder / NAME, *folder.glob(f"{NAME}.*.part")):  # those of killed processes too
        path.unlink(missing_ok=True)


@dataclass
class CheckpointSaver:
    """Saves the state at intervals."""

    folder: Path | None
    state: Callable[[], Mapping[str, Any]]
    seconds: float  # minimum time between two checkpoints
    _last: float = field(default_factory=time.monotonic)
    _duration: float = 0.0

    def save_if_due(self) -> None:
        if time.monotonic() - self._last >= max(self.seconds, SPACING * self._duration):
            self.save()

    def save(self) -> None:
        if self.folder is None:
            return
        start = time.monotonic()
        write_checkpoint(self.folder, self.state())
        self._last = time.monotonic()
        self._duration = self._last - start
