"""Archives: the finished records of plans in one small file, to keep or to share.

One line of JSON per record, ordered by key and compressed: equal records give equal bytes. Artefacts (models, masks)
are left out, because a run rebuilds those it still needs; of trained models that a report shows, everything except the
weights is included.
"""

from __future__ import annotations

import base64
import json
import lzma
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from assay.core.errors import StoreError
from assay.experiments.plan import Plan, read_plan
from assay.experiments.references import TrainedModel
from assay.experiments.store import Record, Store, from_text, reason, to_text, write

KEY = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True)
class PackedRecord:
    """A record, and the files kept of its artefact."""

    record: Record
    files: Mapping[str, bytes] = field(default_factory=dict)  # by name

    def to_text(self) -> str:
        data = json.loads(to_text(self.record))
        coded = {name: base64.b64encode(content).decode() for name, content in sorted(self.files.items())}
        return json.dumps({**data, "files": coded} if coded else data)

    @classmethod
    def from_text(cls, text: str) -> PackedRecord:
        record, coded = from_text(text), json.loads(text).get("files", {})
        if not KEY.fullmatch(record.key):  # it becomes the name of a file
            raise ValueError(f"{record.key!r} is not a key")
        return cls(record, {name: base64.b64decode(content) for name, content in coded.items()})


def pack_records(plans: Iterable[str | Path | Plan], store: Store, path: Path) -> tuple[int, int]:
    """Add the finished records of plans to a file; see `assay.pack`."""
    opened = [plan if isinstance(plan, Plan) else read_plan(plan, store) for plan in plans]
    jobs = {key: job for plan in opened for key, job in plan.jobs.items()}
    models = {key for plan in opened for key in _reported_models(plan)}
    packed = {item.record.key: item for item in read_archive(path)} if path.exists() else {}
    for key, job in jobs.items():
        files = store.artifacts.read_files(key, job.kept_files) if key in models else {}
        if (files or key not in packed) and (record := store.get(key)) is not None:
            packed[key] = PackedRecord(record, files)
    text = "".join(f"{packed[key].to_text()}\n" for key in sorted(packed))
    write(path, lzma.compress(text.encode(), preset=9), "archive")
    return len(jobs.keys() & packed.keys()), len(jobs)


def _reported_models(plan: Plan) -> set[str]:
    """The keys of trained models that a page of the plan's report shows."""
    cells = [cell for cell in plan.cells if cell.study.needs_model_files]
    return {cell.model.key for cell in cells if isinstance(cell.model, TrainedModel)}


def unpack_records(path: Path, store: Store) -> tuple[int, int]:
    """Add the records of an archive to a store; return how many there are and how many were new."""
    packed = list(read_archive(path))
    new = [item for item in packed if not store.has(item.record.key)]
    for item in new:
        for name, content in item.files.items():
            write(store.artifacts.kept_files(item.record.key) / Path(name).name, content, "artefact")
        store.put(item.record)
    return len(packed), len(new)


def read_archive(path: Path) -> Iterator[PackedRecord]:
    """The records of an archive, each checked."""
    try:
        with lzma.open(path, "rt", encoding="utf-8") as lines:
            yield from map(PackedRecord.from_text, lines)
    except (OSError, EOFError, ValueError, lzma.LZMAError) as error:
        raise StoreError(
            f"Cannot read the archive {path}: {reason(error)}. Give a file written by `assay pack`."
        ) from error
