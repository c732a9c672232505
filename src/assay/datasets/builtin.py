"""The built-in sentences: opinions written for Assay, with marks on the words that justify their label."""

from __future__ import annotations

from pathlib import Path

from assay.core.types import Example
from assay.datasets.examples import dataset_of
from assay.datasets.read import rows

FILE = Path(__file__).parent / "builtin.jsonl"


def builtin() -> list[Example]:
    """Thirty sentences with a label and one annotator's rationale as character spans."""
    return list(dataset_of(rows(FILE), "builtin"))
