"""Archives: the finished records of plans in one small file, to keep or to share.

One line of JSON per record, ordered by key and compressed: equal records give equal bytes. Artefacts (models, masks)
are left out, because a run rebuilds those it still needs; of trained models that a report shows, everything except the
weights is included.
"""

from __future__ import annotations

import base64
import lzma
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

from assay.core.errors import StoreError
from assay.experiments.plan import Plan, read_plan
from assay.experiments.references import TrainedModel
from assay.experiments.store import Record, Store, from_text, reason, to_text, write
from assay.experiments.training_task import KEPT_FILES

KEY = re.compile("[0-9a-f]{64}")
KEPT_NAME = re.compile(r"[\w-][\w.-]{0,100}")  # in the folder itself
PIECE = 2**20  # bytes read and expanded at once
SMALL = 256 * 2**20  # bytes that any archive may expand to
RATIO = 200  # of a larger one's size: records shrink to a tenth or less, a bomb to a thousandth
LARGEST_RECORD = 128 * 2**20
MEMORY = 512 * 2**20  # of the decompressor; ours needs 65 MB


@dataclass(frozen=True)
class PackedRecord:
    """A record, and the files kept of its artefact."""

    record: Record
    files: Mapping[str, bytes] = field(default_factory=dict)  # by name

    def to_text(self) -> str:
        coded = {name: base64.b64encode(content).decode() for name, content in sorted(self.files.items())}
        return to_text(self.record, files=coded) if coded else to_text(self.record)

    @classmethod
    def from_text(cls, text: str) -> PackedRecord:
        record, more = from_text(text)
        if not KEY.fullmatch(record.key):  # it becomes the name of a file
            raise ValueError(f"{record.key!r} is not a key")
        coded = more.get("files", {})
        if not isinstance(coded, dict) or not all(isinstance(content, str) for content in coded.values()):
            raise ValueError("its files are not texts by name")
        for name in coded:
            if not KEPT_NAME.fullmatch(name) or not any(fnmatch(name, pattern) for pattern in KEPT_FILES):
                raise ValueError(f"it holds the file {name!r}, which is not a settings file of a model")
        return cls(record, {name: base64.b64decode(content, validate=True) for name, content in coded.items()})


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
    """The keys of trained models and fitted explainers that a page of the plan's report shows."""
    cells = [cell for cell in plan.cells if cell.study.needs_model_files]
    trained = {cell.model.key for cell in cells if isinstance(cell.model, TrainedModel)}
    return trained | {job.key for job in plan.fits}


def unpack_records(path: Path, store: Store) -> tuple[int, int]:
    """Add the records of an archive to a store; return how many there are and how many were new."""
    records = sum(1 for _ in read_archive(path))  # all are checked before the first is stored
    new = 0
    for item in read_archive(path):
        if store.has(item.record.key):
            continue
        for name, content in item.files.items():
            write(store.artifacts.kept_files(item.record.key) / name, content, "artefact")
        store.put(item.record)
        new += 1
    return records, new


def read_archive(path: Path) -> Iterator[PackedRecord]:
    """The records of an archive, each checked."""
    try:
        yield from (PackedRecord.from_text(line.decode("utf-8")) for line in _lines(path))
    except (OSError, EOFError, ValueError, lzma.LZMAError) as error:
        raise StoreError(
            f"Cannot read the archive {path}: {reason(error)}. Give a file written by `assay pack`."
        ) from error


def _lines(path: Path) -> Iterator[bytes]:
    """The lines of a compressed file, expanded piece by piece; ValueError if they expand to more than is allowed."""
    rest = bytearray()
    for piece in _pieces(path):
        rest += piece
        if b"\n" in piece:
            *lines, last = bytes(rest).split(b"\n")
            yield from lines
            rest = bytearray(last)
        if len(rest) > LARGEST_RECORD:
            raise ValueError(f"one of its records is larger than {LARGEST_RECORD:,} bytes")
    if rest:
        yield bytes(rest)


def _pieces(path: Path) -> Iterator[bytes]:
    reader, size, read = lzma.LZMADecompressor(memlimit=MEMORY), 0, 0
    with path.open("rb") as file:
        while not reader.eof:
            data = file.read(PIECE) if reader.needs_input else b""
            if reader.needs_input and not data:
                raise EOFError("it ended before its end")
            read += len(data)
            piece = reader.decompress(data, PIECE)
            size += len(piece)
            if size > max(SMALL, RATIO * read):
                raise ValueError(f"its {read:,} bytes expand to more than {RATIO} times as many")
            yield piece
