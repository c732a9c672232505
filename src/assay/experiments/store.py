"""The store: one file per key, written aside and renamed, so that a file that is there is complete."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.core.errors import AssayError


@dataclass(frozen=True)
class Record:
    """The unit of resume: `rows` are the result and are compared, `provenance` (versions, time) never is."""

    key: str
    spec: Mapping[str, Any]
    rows: Any
    provenance: Mapping[str, Any]


def key_of(spec: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical JSON of everything that changes the result."""
    return hashlib.sha256(json.dumps(spec, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def default_folder() -> Path:
    """A user's cache folder, as the desktop conventions name it."""
    return Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "assay" / "store"


@dataclass(frozen=True)
class Store:
    """Records in a folder. Any number of processes may share it: they write the same content under the same name."""

    folder: Path

    def path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"

    def get(self, key: str) -> Record | None:
        path = self.path(key)
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise AssayError(f"cannot read the record {path}: {error}; delete that file and run again") from error
        return Record(data["key"], data["spec"], data["rows"], data["provenance"])

    def put(self, record: Record) -> None:
        path = self.path(record.key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(
                "w", dir=path.parent, delete=False, encoding="utf-8", suffix=".part"
            ) as out:
                json.dump(record.__dict__, out)
                out.flush()
                os.fsync(out.fileno())
            os.replace(out.name, path)
        except OSError as error:
            raise AssayError(
                f"cannot write the record {path}: {error.strerror}; free space or name another --store; "
                "what was written before is kept"
            ) from error
