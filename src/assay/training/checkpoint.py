"""The state of an interrupted training: one file, written aside and renamed, so that it is whole or not there."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from assay.core.errors import AssayError

NAME = "checkpoint.pt"
SHARE = 50  # training time between two checkpoints, in times that one takes to write: 2 % of it are spent on them


def write(folder: Path, state: Mapping[str, Any]) -> None:
    path = folder / NAME
    part = path.with_suffix(".part")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as out:
            torch.save(dict(state), out)
            out.flush()
            os.fsync(out.fileno())
        os.replace(part, path)
    except (OSError, RuntimeError) as error:
        raise AssayError(f"cannot write the checkpoint {path}: {error}; free space or name another folder") from error


def read(folder: Path, identity: str) -> dict[str, Any] | None:
    """The state in a folder, if there is one; it must be of the same recipe, data and model."""
    path = folder / NAME
    if not path.is_file():
        return None
    try:
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)  # tensors and numbers, no code
    except Exception as error:
        raise AssayError(f"cannot read the checkpoint {path}: {error}; delete it and train again") from error
    if state.get("identity") != identity:
        raise AssayError(
            f"{folder} holds an unfinished training with another recipe, data or model; "
            "go on with those, name another folder, or overwrite it"
        )
    return state


def remove(folder: Path) -> None:
    for name in (NAME, Path(NAME).with_suffix(".part").name):
        (folder / name).unlink(missing_ok=True)


@dataclass
class Saver:
    """Writes the state now and then: rarely enough that it costs little, often enough that a kill costs little."""

    folder: Path | None
    state: Callable[[], Mapping[str, Any]]
    seconds: float  # at least, between two
    _last: float = field(default_factory=time.monotonic)
    _took: float = 0.0

    def now_and_then(self) -> None:
        if time.monotonic() - self._last >= max(self.seconds, SHARE * self._took):
            self.now()

    def now(self) -> None:
        if self.folder is None:
            return
        start = time.monotonic()
        write(self.folder, self.state())
        self._last = time.monotonic()
        self._took = self._last - start
