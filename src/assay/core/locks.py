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
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

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


def try_lock(path: Path, *, wait: bool = False) -> TextIO | None:
    """Lock a file and write who holds it in it; None if another process holds it, unless `wait`."""
    while True:
        file = path.open("a+", encoding="utf-8")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            file.close()
            return None
        except OSError as error:
            if error.errno not in NO_LOCKS:
                file.close()
                raise
            warnings.warn(f"{path.parent} is on a file system without locks; do not write there twice", stacklevel=3)
        if _is_same(file, path):
            _sign(file)
            return file
        file.close()  # the holder deleted it between our open and its release


@contextmanager
def released(path: Path, held: TextIO) -> Iterator[None]:
    """Delete and release a lock at the end."""
    try:
        yield
    finally:
        path.unlink(missing_ok=True)  # while it is held: nobody can lock the deleted file and believe it
        held.close()


def _is_same(file: TextIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _sign(file: TextIO) -> None:
    file.truncate(0)
    json.dump({"pid": os.getpid(), "host": socket.gethostname(), "since": time.strftime("%Y-%m-%d %H:%M:%S")}, file)
    file.flush()


def _holder(path: Path) -> str:
    """Who holds a lock, as far as the file says."""
    try:
        by = json.loads(path.read_text(encoding="utf-8"))
        return f"process {by['pid']} on {by['host']} since {by['since']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
