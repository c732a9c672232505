"""Packs: the finished records of plans in one small file, which outlives the store's machine and can be shared.

A line of JSON per record, ordered by key and compressed: the same records are the same bytes. Artefacts (models, masks)
are left out, because a run builds them again where a job still needs them; of a trained model that a report shows, all
but the weights goes along.
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
class Packed:
    """A record, and the small files that are kept of its artefact."""

    record: Record
    kept_files: Mapping[str, bytes] = field(default_factory=dict)  # by name

    def to_text(self) -> str:
        data = json.loads(to_text(self.record))
        coded = {name: base64.b64encode(content).decode() for name, content in sorted(self.kept_files.items())}
        return json.dumps({**data, "remains": coded} if coded else data)

    @classmethod
    def from_text(cls, text: str) -> Packed:
        record, coded = from_text(text), json.loads(text).get("remains", {})
        if not KEY.fullmatch(record.key):  # it becomes the name of a file
            raise ValueError(f"{record.key!r} is no key")
        return cls(record, {name: base64.b64decode(content) for name, content in coded.items()})


def pack_records(plans: Iterable[str | Path | Plan], store: Store, path: Path) -> tuple[int, int]:
    """Add what is done of these plans to a file; returns how many of their jobs are in it, and how many they have.

    What the file holds already stays: packing on a new machine, or after a change of the plans, loses nothing.
    """
    read = [plan if isinstance(plan, Plan) else read_plan(plan, store) for plan in plans]
    jobs = {key: job for plan in read for key, job in plan.jobs.items()}
    models = {key for plan in read for key in _reported_models(plan)}
    found = {one.record.key: one for one in read_pack(path)} if path.exists() else {}
    for key, job in jobs.items():
        kept_files = store.artifacts.small(key, job.kept_files) if key in models else {}
        if (kept_files or key not in found) and (record := store.get(key)) is not None:
            found[key] = Packed(record, kept_files)
    text = "".join(f"{found[key].to_text()}\n" for key in sorted(found))
    write(path, lzma.compress(text.encode(), preset=9), "pack")
    return len(jobs.keys() & found.keys()), len(jobs)


def _reported_models(plan: Plan) -> set[str]:
    """The keys of trained models that a page of the plan's report shows."""
    cells = [cell for cell in plan.cells if cell.study.needs_model_files]
    return {cell.model.key for cell in cells if isinstance(cell.model, TrainedModel)}


def unpack_records(path: Path, store: Store) -> tuple[int, int]:
    """Put the records of a pack into a store; returns how many there are and how many were new to it."""
    packed = list(read_pack(path))
    new = [one for one in packed if not store.has(one.record.key)]
    for one in new:
        for name, content in one.kept_files.items():
            write(store.artifacts.kept_files(one.record.key) / Path(name).name, content, "artefact")
        store.put(one.record)
    return len(packed), len(new)


def read_pack(path: Path) -> Iterator[Packed]:
    """The records of a pack, each checked."""
    try:
        with lzma.open(path, "rt", encoding="utf-8") as lines:
            yield from map(Packed.from_text, lines)
    except (OSError, EOFError, ValueError, lzma.LZMAError) as error:
        raise StoreError(f"cannot read the pack {path}: {reason(error)}; give a file of `assay pack`") from error
