"""The built-in sentences: opinions written for Assay, with rationales."""

from __future__ import annotations

from pathlib import Path

from assay.core.types import Example
from assay.datasets.build import build_dataset
from assay.datasets.read import read_rows

FILE = Path(__file__).parent / "builtin.jsonl"


def builtin() -> list[Example]:
    """Thirty sentences, each with a label and one annotator's rationale."""
    return list(build_dataset(read_rows(FILE), "builtin"))
