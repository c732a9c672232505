"""Writing files: completely or not at all, and with a refusal before the work if a place cannot be written."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from assay.core.errors import AssayError


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file beside `path` to write in, which takes its place once all is written; raises OSError.

    What is no regular file (a pipe, /dev/stdout), or lies in a folder that may not be changed, is written in place.
    """
    path = path.resolve() if path.is_symlink() else path
    if _in_place(path):
        with path.open("wb") as out:
            yield out
        return
    # not tempfile, whose files only their owner may read: a store and its archives may be shared
    part = path.with_name(f"{path.name[:180]}.{os.getpid()}-{secrets.token_hex(4)}.part")
    try:
        with part.open("xb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        os.replace(part, path)
    finally:
        with suppress(OSError):
            part.unlink()


def _in_place(path: Path) -> bool:
    return path.exists() and not path.is_dir() and not (path.is_file() and os.access(path.absolute().parent, os.W_OK))


def write_file(path: str | Path, content: str | bytes, *, parents: bool = False) -> Path:
    """Write a text or bytes. parents: make the folders above it too."""
    path = Path(path)
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content  # lone surrogates
    try:
        if parents:
            path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as out:
            out.write(data)
    except OSError as error:
        raise unwritable(path, error) from error
    return path


def check_writable(*paths: Path | None) -> None:
    """Refuse files that cannot be written before the work starts."""
    for path in paths:
        if path is None:
            continue
        folder = path.absolute().parent
        if not folder.is_dir():
            raise AssayError(f"cannot write {path}: the folder {folder} does not exist. Create it or name another.")
        if path.is_dir() or not os.access(path if path.exists() else folder, os.W_OK):
            raise AssayError(f"cannot write {path}: it is a folder or write-protected. Name another file.")


def check_folder_writable(folder: Path) -> None:
    """Refuse a folder in which no file can be written, before the work starts; make it if it is not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(folder / ".writable") as out:
            out.write(b"x")
        (folder / ".writable").unlink(missing_ok=True)
    except OSError as error:
        raise unwritable(folder, error, "folder") from error


def unwritable(path: Path, error: Exception, kind: str = "file") -> AssayError:
    """The error for a file or folder that cannot be written."""
    reason = getattr(error, "strerror", None) or str(error)
    return AssayError(f"cannot write {path}: {reason}; free space or name another {kind}")
