"""Leases: which artefacts the runs that share a store may still read.

Each run holds one locked file with the keys it may need. The lock ends with the process, so a killed run holds nothing.
"""

from __future__ import annotations

import errno
import os
import secrets
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from assay.core.errors import StoreError
from assay.core.locks import lock, released, rewrite, try_lock

ENDING = ".lease"


class Lease:
    """The keys that one run may need; `alone` tells whether another living run needs one of them too."""

    def __init__(self, folder: Path, keys: Iterable[str] = ()) -> None:
        self.folder, self.keys = folder, set(keys)
        self.path = folder / f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}{ENDING}"
        self.file: int | None = None

    @contextmanager
    def held(self) -> Iterator[Lease]:
        """Hold the lease until the end of the run."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with self._mutex():
                self.file = lock(self.path)
                self._write()
        except OSError as error:
            if error.errno not in (errno.EROFS, errno.EACCES):  # nothing is deleted in a store that is write-protected
                raise StoreError(f"cannot write in {self.folder}: {error.strerror}; name another --store") from error
        if self.file is None:
            yield self
            return
        with released(self.path, self.file):
            yield self

    @contextmanager
    def alone(self, key: str) -> Iterator[bool]:
        """Give a key up; whether no other run needs it. None can take it until this ends."""
        with self._mutex():
            self.keys.discard(key)
            self._write()
            yield not any(key in keys for keys in self._others())

    @contextmanager
    def _mutex(self) -> Iterator[None]:
        """One process at a time reads or changes the leases."""
        path = self.folder / "leases.lock"
        with released(path, lock(path)):
            yield

    def _write(self) -> None:
        if self.file is not None:
            rewrite(self.file, "\n".join(sorted(self.keys)))

    def _others(self) -> Iterator[set[str]]:
        """The keys of other runs; the file of a dead one is deleted."""
        for lease in self.folder.glob(f"*{ENDING}"):
            if lease == self.path:
                continue
            if (dead := try_lock(lease)) is None:
                yield set(lease.read_text(encoding="utf-8").split())
                continue
            with released(lease, dead):
                pass
