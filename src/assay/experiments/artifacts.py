"""Artefacts: folders that jobs write besides their rows (models, masks), written aside and renamed."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from assay.core.errors import StoreError
from assay.core.locks import released, try_lock

SIZES = ".sizes"  # of the files of an artefact, as they were written
STORE_ERRORS = (errno.ENOSPC, errno.EROFS, errno.EDQUOT, errno.EACCES, errno.EIO)  # not the job's fault


@dataclass(frozen=True)
class Artifacts:
    """Folders by key, always complete. One that was deleted is rebuilt when a job needs it."""

    folder: Path

    def path(self, key: str) -> Path:
        return self.folder / key

    def kept_files(self, key: str) -> Path:
        """The files kept of a deleted artefact, e.g. a model's configuration and tokenizer."""
        return self.folder / f"{key}.kept"

    def places(self, key: str) -> tuple[Path, Path]:
        """Where files of an artefact may be: in the whole one, or among those kept of a deleted one."""
        return self.path(key), self.kept_files(key)

    def has(self, key: str) -> bool:
        """Whether the whole artefact is there; one with a truncated file is not, and is rebuilt."""
        return self.path(key).is_dir() and _is_whole(self.path(key))

    @contextmanager
    def making(self, key: str) -> Iterator[Path]:
        """A folder to write in. It is renamed to KEY on success, and stays as KEY.part for the next try on failure.

        If two processes write the same artefact, the one without the lock writes to a folder of its own.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with _claimed(self.folder / f"{key}.part", self.folder / f"{key}.{os.getpid()}.part") as part:
                yield part
                (part / SIZES).write_text(json.dumps(_sizes(part)), encoding="utf-8")
                if self.path(key).is_dir() and not self.has(key):
                    shutil.rmtree(self.path(key))
                _rename(part, self.path(key))
        except OSError as error:
            if error.errno not in STORE_ERRORS:
                raise
            raise StoreError(
                f"cannot write the artefact {error.filename or self.path(key)}: {error.strerror}; "
                "free space or name another --store. Earlier results are kept."
            ) from error

    def found(self, key: str) -> Path:
        """The folder of an artefact, or of the files kept of it."""
        return self.path(key) if self.has(key) else self.kept_files(key)

    def read_files(self, key: str, patterns: Sequence[str]) -> dict[str, bytes]:
        """The files of an artefact, or those kept of it, that match the patterns."""
        folder = self.found(key)
        return {file.name: file.read_bytes() for pattern in patterns for file in folder.glob(pattern)}

    def discard(self, key: str, keep: Sequence[str] = ()) -> None:
        """Delete an artefact except the files that match the patterns `keep`."""
        path = self.path(key)
        for part in self.folder.glob(f"{key}.*.part"):  # of killed processes: nobody else uses this artefact
            shutil.rmtree(part, ignore_errors=True)
        if not path.is_dir():
            return
        trash = self.folder / f"{key}.gone"  # renamed first, so that a kill leaves no half-deleted folder
        shutil.rmtree(trash, ignore_errors=True)
        files = [file for pattern in keep for file in path.glob(pattern)]
        try:
            if files:
                self.kept_files(key).mkdir(exist_ok=True)
            for file in files:
                shutil.copy2(file, self.kept_files(key) / file.name)
            os.replace(path, trash)
        except OSError as error:
            raise StoreError(f"cannot delete the artefact {path}: {error.strerror or error}") from error
        shutil.rmtree(trash, ignore_errors=True)


def _sizes(folder: Path) -> dict[str, int]:
    files = [file for file in folder.rglob("*") if file.is_file() and file.name != SIZES]
    return {file.relative_to(folder).as_posix(): file.stat().st_size for file in files}


def _is_whole(folder: Path) -> bool:
    """Whether every file has the size that it was written with; older artefacts have no list of sizes."""
    try:
        written = json.loads((folder / SIZES).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return True
    except ValueError:
        return False
    return bool(written == _sizes(folder))


def _rename(part: Path, path: Path) -> None:
    try:
        os.rename(part, path)
    except OSError:
        if not path.is_dir():
            raise
        shutil.rmtree(part, ignore_errors=True)  # another process wrote the same content first


@contextmanager
def _claimed(shared: Path, own: Path) -> Iterator[Path]:
    """The shared folder, which a killed process may have begun, unless another process holds it; then `own`."""
    lock = shared.with_name(f"{shared.name}.lock")  # beside the folder, not part of the artefact
    held = try_lock(lock)
    folder = own if held is None else shared
    folder.mkdir(exist_ok=True)
    with nullcontext() if held is None else released(lock, held):
        yield folder
