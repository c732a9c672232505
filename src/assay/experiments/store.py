"""The store: one file per record, written aside and renamed, so that every file in it is complete."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from assay.core.errors import AssayError, StoreError
from assay.core.files import replacing
from assay.experiments.artifacts import Artifacts

Note = Literal["failed", "skipped"]
NOTES: Mapping[Note, tuple[str, ...]] = {"failed": ("error",), "skipped": ("reason",)}  # what each must say
STALE = 3600.0  # seconds after which a temporary file belongs to a process that died


@dataclass(frozen=True)
class Record:
    """The result of a job: `rows`, and `provenance` (versions, time), which is never compared."""

    key: str
    spec: Mapping[str, Any]
    rows: Any
    provenance: Mapping[str, Any]


FIELDS: Mapping[str, type] = {"key": str, "spec": dict, "rows": object, "provenance": dict}  # of a stored record


def canonical(content: Any) -> str:
    """JSON text that does not depend on the order of keys."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"))


def key_of(spec: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical JSON of everything that changes the result."""
    return hashlib.sha256(canonical(spec).encode()).hexdigest()


def open_store(store: str | Path | Store | None) -> Store:
    """The store in a folder; None is the default one in the user's cache folder."""
    return store if isinstance(store, Store) else Store(Path(store) if store is not None else default_folder())


def default_folder() -> Path:
    """The store in the user's cache folder (XDG)."""
    return Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "assay" / "store"


@dataclass(frozen=True)
class Store:
    """Records in a folder, which several processes may share: equal keys have equal content.

    KK/KEY.json are records, failed/KEY.json and skipped/KEY.json say why one is missing, artifacts/KEY are folders.
    """

    folder: Path

    def __post_init__(self) -> None:
        if self.folder.is_file():
            raise StoreError(f"{self.folder} is a file. A store is a folder: name another.")

    @property
    def artifacts(self) -> Artifacts:
        return Artifacts(self.folder / "artifacts")

    def path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"

    def has(self, key: str) -> bool:
        return self.path(key).is_file()

    def get(self, key: str) -> Record | None:
        path = self.path(key)
        try:
            record, _ = from_text(path.read_text(encoding="utf-8"))
            if record.key != key:
                raise ValueError("its content is not what was written")
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise StoreError(
                f"cannot read the record {path}: {reason(error)}; delete that file and run again"
            ) from error
        return record

    def put(self, record: Record) -> None:
        write(self.path(record.key), to_text(record).encode(), "record")

    @contextmanager
    def expecting_form(self, key: str) -> Iterator[None]:
        """Turn errors in reading the rows of a record, whose checksum is right, into one sentence."""
        try:
            yield
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            if isinstance(error, AssayError):
                raise
            raise StoreError(
                f"the record {self.path(key)} is not of the form that its job writes "
                f"({type(error).__name__}: {error}); delete that file and run again"
            ) from error

    # --- why there is no record ------------------------------------------------------------------------------------

    def note_path(self, note: Note, key: str) -> Path:
        return self.folder / note / f"{key}.json"

    def note(self, note: Note, key: str) -> dict[str, Any] | None:
        path = self.note_path(note, key)
        try:
            content = read_json(path.read_text(encoding="utf-8"))
            if not isinstance(content, dict) or not all(isinstance(content.get(key), str) for key in NOTES[note]):
                raise ValueError(f"it is not a note on a {note} job")
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise StoreError(f"cannot read {path}: {reason(error)}; delete that file and run again") from error
        return content

    def put_note(self, note: Note, key: str, content: Mapping[str, Any]) -> None:
        text = json.dumps({**content, "created": time.time()}, indent=1)
        write(self.note_path(note, key), text.encode(), f"{note} job")

    def drop_note(self, note: Note, key: str) -> None:
        path = self.note_path(note, key)
        if path.exists():
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise StoreError(f"cannot delete {path}: {error.strerror}") from error

    # --- before a run ----------------------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Check that the store is writable before the work starts, and delete files left by killed processes."""
        write(self.folder / "writable", b"yes", "store")
        for part in self.folder.glob("*/*.part"):
            if part.is_file() and time.time() - part.stat().st_mtime > STALE:
                part.unlink(missing_ok=True)


def to_text(record: Record, **more: Any) -> str:
    """A record as one line of JSON, with a checksum of all of it. more: what an archive adds."""
    content = json.loads(json.dumps({**asdict(record), **more}))  # as it will be read: keys are texts
    return json.dumps({**content, "checksum": _checksum(content)})


def from_text(text: str) -> tuple[Record, dict[str, Any]]:
    """The record that `to_text` wrote, and what an archive added; ValueError if it is incomplete."""
    data = read_json(text)
    if not isinstance(data, dict):
        raise ValueError("it is not a record")
    for name, kind in FIELDS.items():
        if name not in data:
            raise ValueError(f"it has no {name!r}")
        if not isinstance(data[name], kind):
            raise ValueError(f"its {name!r} is {data[name]!r:.50}")
    if not _is_intact(data):
        raise ValueError("its content is not what was written")
    more = {name: value for name, value in data.items() if name not in (*FIELDS, "checksum", "check")}
    return Record(**{name: data[name] for name in FIELDS}), more


def _is_intact(data: dict[str, Any]) -> bool:
    """Whether the checksum is right; that of older records is `check`, of the rows alone."""
    if "checksum" not in data:
        return bool(data.get("check", _checksum(data["rows"])) == _checksum(data["rows"]))
    return bool(data["checksum"] == _checksum({name: value for name, value in data.items() if name != "checksum"}))


def _checksum(content: Any) -> str:
    return hashlib.sha256(canonical(content).encode()).hexdigest()


def read_json(text: str) -> Any:
    """JSON; ValueError also if it is nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def reason(error: Exception) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)


def write(path: Path, content: bytes, what: str) -> None:
    """Write a file completely or not at all."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as out:
            out.write(content)
    except OSError as error:
        raise StoreError(
            f"cannot write the {what} {path}: {error.strerror}; free space or name another folder. "
            "Earlier results are kept."
        ) from error
