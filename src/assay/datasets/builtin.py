"""The built-in sentences: opinions written for Assay, with marks on the words that justify their label."""

from __future__ import annotations

import json
from pathlib import Path

from assay.core.types import Example, Span

FILE = Path(__file__).parent / "builtin.jsonl"


def builtin() -> list[Example]:
    """Thirty sentences with a label and one annotator's rationale as character spans."""
    rows = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
    return [
        Example(row["text"], id=row["id"], label=row["label"], rationales=_spans(row["rationales"])) for row in rows
    ]


def _spans(rationales: list[list[list[int]]]) -> tuple[tuple[Span, ...], ...]:
    return tuple(tuple(Span(0, start, end) for start, end in annotator) for annotator in rationales)
