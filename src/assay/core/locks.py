"""Locks between processes: files that the kernel releases when the process that holds them dies."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from assay.core.errors import AssayError

NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL)  # of file systems without locks


@contextmanager
def only_writer(path: Path, what: str) -> Iterator[None]:
    """Hold the lock file `path` while writing `what`; AssayError if another process holds it."""
    held = try_lock(path)
    if held is None:
        raise AssayError(f"{what} is being written by {_holder(path)}; wait until it is done, or name another output")
    with released(path, held):
        yield


def lock(path: Path) -> int:
    """Lock a file, waiting until it is free, and write in it who holds it."""
    while True:
        file = _open(path)
        _flock(file, path, fcntl.LOCK_EX)
        if _is_same(file, path):
            _sign(file)
            return file
        os.close(file)  # its holder deleted it between our open and its release


def try_lock(path: Path) -> int | None:
    """Lock a file if it is free; None if another process holds it."""
    file = _open(path)
    try:
        _flock(file, path, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        return None
    if not _is_same(file, path):
        os.close(file)
        return try_lock(path)
    _sign(file)
    return file


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except PermissionError:  # the file of another user, in a store that both may write
        return os.open(path, os.O_RDONLY)


def _flock(file: int, path: Path, operation: int) -> None:
    try:
        fcntl.flock(file, operation)
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
        warnings.warn(f"{path}: this file system has no locks; do not write there twice at once", stacklevel=4)


@contextmanager
def released(path: Path, held: int) -> Iterator[None]:
    """Delete and release a lock at the end."""
    try:
        yield
    finally:
        with suppress(OSError):
            path.unlink()  # while it is held: nobody can lock the deleted file and believe it
        os.close(held)


def _is_same(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False


def _sign(file: int) -> None:
    by = {"pid": os.getpid(), "host": socket.gethostname(), "since": time.strftime("%Y-%m-%d %H:%M:%S")}
    with suppress(OSError):  # a full disk: the lock holds all the same
        rewrite(file, json.dumps(by))


def rewrite(file: int, text: str) -> None:
    """Replace the content of a lock file; a shorter one needs no space."""
    content = text.encode()
    os.pwrite(file, content, 0)
    os.ftruncate(file, len(content))


def _holder(path: Path) -> str:
    """Who holds a lock, as far as the file says."""
    try:
        by = json.loads(path.read_text(encoding="utf-8"))
        return f"process {by['pid']} on {by['host']} since {by['since']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
