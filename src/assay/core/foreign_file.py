"""Scores made elsewhere, from a JSON Lines file: one explanation of one text per line."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from assay.core.errors import AssayError, InputError
from assay.core.foreign import checked_name, from_characters, from_spans, from_words
from assay.core.types import Attribution

FORM = '{"text": "a fine film", "label": "positive", "words": ["a", "fine", "film"], "scores": [0, 0.9, 0.2]}'


def read_scores(path: Path, name: str | None = None) -> list[Attribution]:
    """The attributions of a file; an error names its line."""
    known = checked_name(name or stem_of(path))
    attributions = []
    for number, line in _lines(path):
        try:
            attributions.append(_attribution(_row(line), known))
        except InputError as error:
            raise InputError(f"{path.name}, line {number}: {error}") from error
    if not attributions:
        raise InputError(f"{path.name} has no scores; write one line per text, such as {FORM}")
    return attributions


def stem_of(path: str | Path) -> str:
    return Path(path).name.removesuffix(".gz").removesuffix(".jsonl").removesuffix(".json")


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            yield from ((number, line) for number, line in enumerate(file, start=1) if line.strip())
    except FileNotFoundError as error:
        raise AssayError(f"there is no file {path}; give a JSON Lines file of scores, or name=path") from error
    except (OSError, EOFError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text in UTF-8"
        raise AssayError(f"cannot read the scores in {path}: {reason}") from error


def _row(line: str) -> Mapping[str, Any]:
    try:
        row = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        raise InputError(f"it is not JSON; write for example {FORM}") from error
    if not isinstance(row, dict):
        raise InputError(f"it is not an object; write for example {FORM}")
    return row


def _attribution(row: Mapping[str, Any], name: str) -> Attribution:
    if "units" in row:
        return _own(row)
    texts = row.get("text")
    if not isinstance(texts, str) or "scores" not in row:
        raise InputError(f"it needs `text` and `scores`; write for example {FORM}")
    if "label" not in row:
        raise InputError('it does not say which class the scores explain; add "label": a label of the model, or null')
    pair = row.get("text_pair")
    texts = texts if pair is None else (texts, pair)
    about = {"label": row["label"], "name": str(row.get("method") or name), "ids": [row.get("id", "")]}
    units = row.get("words", row.get("tokens"))
    if units is not None:
        return from_words([texts], [units], [row["scores"]], **about)[0]
    if "spans" in row:
        return from_spans([texts], [row["spans"]], [row["scores"]], **about)[0]
    return from_characters([texts], [row["scores"]], **about)[0]


def _own(row: Mapping[str, Any]) -> Attribution:
    """A line that `assay explain --output` wrote."""
    try:
        return Attribution.from_dict(row)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"it is not a line of `assay explain --output` ({error})") from error
