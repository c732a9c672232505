"""Artefacts: what a job leaves besides its rows (a model, masks); a folder per key, written aside and renamed."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from assay.core.errors import StoreError

NO_ROOM = (errno.ENOSPC, errno.EROFS, errno.EDQUOT, errno.EACCES, errno.EIO)  # the store's fault, not the job's


@dataclass(frozen=True)
class Artifacts:
    """Folders by key. One that is there is complete; it may be deleted at any time and is then built again."""

    folder: Path

    def path(self, key: str) -> Path:
        return self.folder / key

    def kept_files(self, key: str) -> Path:
        """What was kept of a deleted one, e.g. a model's configuration and tokenizer without its weights."""
        return self.folder / f"{key}.remains"

    def has(self, key: str) -> bool:
        return self.path(key).is_dir()

    @contextmanager
    def making(self, key: str) -> Iterator[Path]:
        """A folder to write in; it takes its name when all went well, and stays as KEY.part for the next try if not.

        Two processes that make the same thing do not meet: the lock ends with its process, and who does not get it
        writes elsewhere.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with _claimed(self.folder / f"{key}.part", self.folder / f"{key}.{os.getpid()}.part") as part:
                yield part
                _rename(part, self.path(key))
        except OSError as error:
            if error.errno not in NO_ROOM:
                raise
            raise StoreError(
                f"cannot write the artefact {error.filename or self.path(key)}: {error.strerror}; "
                "free space or name another --store; what was written before is kept"
            ) from error

    def small(self, key: str, kept_files: Sequence[str]) -> dict[str, bytes]:
        """The files that match the patterns `remains`, of an artefact or of what was kept of it."""
        folder = self.path(key) if self.has(key) else self.kept_files(key)
        return {file.name: file.read_bytes() for pattern in kept_files for file in folder.glob(pattern)}

    def discard(self, key: str, kept_files: Sequence[str] = ()) -> None:
        """Delete an artefact but for the files that match the patterns `remains`."""
        path = self.path(key)
        if not path.is_dir():
            return
        gone = self.folder / f"{key}.gone"  # renamed first: a kill in between leaves no half
        shutil.rmtree(gone, ignore_errors=True)
        kept = [file for pattern in kept_files for file in path.glob(pattern)]
        try:
            if kept:
                self.kept_files(key).mkdir(exist_ok=True)
            for file in kept:
                shutil.copy2(file, self.kept_files(key) / file.name)
            os.replace(path, gone)
        except OSError as error:
            raise StoreError(f"cannot delete the artefact {path}: {error.strerror or error}") from error
        shutil.rmtree(gone, ignore_errors=True)


def _rename(part: Path, path: Path) -> None:
    try:
        os.rename(part, path)
    except OSError:
        if not path.is_dir():
            raise
        shutil.rmtree(part, ignore_errors=True)  # somebody else was faster with the same content


@contextmanager
def _claimed(shared: Path, own: Path) -> Iterator[Path]:
    """The shared folder if nobody works in it, which a killed process may have begun; else one of our own."""
    lock = shared.with_name(f"{shared.name}.lock")
    with lock.open("w") as held:  # beside the folder, so that it is no part of the artefact
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            folder = shared
        except BlockingIOError:
            folder = own
        folder.mkdir(exist_ok=True)
        yield folder
        if folder == shared:
            lock.unlink(missing_ok=True)
