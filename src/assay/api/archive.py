"""assay.pack and assay.unpack: finished records in one small file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.experiments.archive import pack_records, unpack_records
from assay.experiments.plan import Plan
from assay.experiments.store import Store, open_store


def pack(
    plans: Sequence[str | Path | Plan], output: str | Path, *, store: str | Path | Store | None = None
) -> tuple[int, int]:
    """Add the finished records of plans to a file; return how many of their jobs it holds, and how many they have.

    Records that the file already holds stay. Trained models are left out; a run rebuilds those it still needs.
    """
    return pack_records(plans, open_store(store), Path(output))


def unpack(path: str | Path, *, store: str | Path | Store | None = None) -> tuple[int, int]:
    """Add the records of a packed file to a store; return how many there are, and how many were new."""
    return unpack_records(Path(path), open_store(store))
