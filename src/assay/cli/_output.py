"""How the commands write their files, and find out beforehand whether they can."""

from __future__ import annotations

import json
import math
import os
import shlex
import sys
from pathlib import Path
from typing import Any

from assay.core.errors import AssayError


def writable(*paths: Path | None) -> None:
    """Say before an hour's work, not after it, that its result has nowhere to go."""
    for path in paths:
        if path is None:
            continue
        folder = path.absolute().parent
        if not folder.is_dir():
            raise AssayError(f"cannot write {path}: there is no folder {folder}; make it or name another")
        if path.is_dir() or not os.access(path if path.exists() else folder, os.W_OK):
            raise AssayError(f"cannot write {path}: it is a folder or may not be written; name another file")


def write_text(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise AssayError(f"cannot write {path}: {error.strerror}") from error


def write_json(path: Path, content: Any) -> None:
    """A number that is unknown or infinite becomes null: JSON has neither, and strict readers stop at them."""
    write_text(path, json.dumps(_finite(content), indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def _finite(content: Any) -> Any:
    if isinstance(content, float):
        return content if math.isfinite(content) else None
    if isinstance(content, dict):
        return {key: _finite(value) for key, value in content.items()}
    return [_finite(value) for value in content] if isinstance(content, list | tuple) else content


def command() -> str:
    """What the user typed, for the page that it made."""
    return shlex.join(["assay", *sys.argv[1:]])
