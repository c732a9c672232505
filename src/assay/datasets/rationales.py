"""Rationales as character spans, whatever form they were written in.

Of one text: [[start, end], ...] in characters; 0/1 per token; token indices; in a column called ..._tokens
[[start, end], ...] in tokens. Tokens are those of the tokens column, or else the words between blanks. Of a pair:
an object with one of these per text. Several annotators: a list of these.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from assay.core.errors import InputError
from assay.core.types import Span
from assay.datasets.columns import Columns
from assay.datasets.tokens import Place, align, words

Spans = tuple[Span, ...]


def rationales_of(row: Mapping[str, Any], columns: Columns, texts: Sequence[str | None]) -> tuple[Spans, ...]:
    """The spans of each annotator; empty if nobody marked anything."""
    several = plain(cell(row, columns.rationales))
    if several is not None:
        found = [_annotator(given, row, columns, texts) for given in _agreeing(several, row, columns)]
    else:
        found = [_single(row, columns, texts)]
    return tuple(found) if any(found) else ()


def cell(row: Mapping[str, Any], column: str | None) -> Any:
    """The value of a column, None if there is no such column or it has no role."""
    return None if column is None else row.get(column)


def plain(value: Any) -> Any:
    """Lists and objects that a CSV cell holds as JSON, or a table as arrays."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, str) and value.strip()[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except json.JSONDecodeError:
            return value
    return value


def _agreeing(several: Any, row: Mapping[str, Any], columns: Columns) -> list[Any]:
    """The annotators whose own label is the example's: the others justify another label."""
    if not isinstance(several, list):
        raise InputError(f"rationales is a {type(several).__name__}; give a list with one rationale per annotator")
    labels = plain(cell(row, columns.annotator_labels))
    if labels is None:
        return several
    return [given for given, label in zip(several, labels, strict=True) if label == cell(row, columns.label)]


def _single(row: Mapping[str, Any], columns: Columns, texts: Sequence[str | None]) -> Spans:
    first = _annotator(plain(cell(row, columns.rationale)), row, columns, texts)
    return first + _marks(plain(cell(row, columns.rationale_pair)), row, columns, texts, 1)


def _annotator(given: Any, row: Mapping[str, Any], columns: Columns, texts: Sequence[str | None]) -> Spans:
    if not isinstance(given, Mapping):
        return _marks(given, row, columns, texts, 0)
    segments = {"text": 0, columns.text: 0, "text_pair": 1, columns.text_pair: 1}
    if not set(given) <= {*segments, *row}:
        raise InputError(
            f"a rationale names {', '.join(map(str, given))}; name the texts: "
            f"{', '.join(str(c) for c in (columns.text, columns.text_pair) if c)}"
        )
    marks = [(segments[key], value) for key, value in given.items() if key in segments]  # not of texts left out
    return tuple(span for segment, value in marks for span in _marks(value, row, columns, texts, segment))


def _marks(given: Any, row: Mapping[str, Any], columns: Columns, texts: Sequence[str | None], segment: int) -> Spans:
    """One annotator's spans in one text, in order."""
    text = texts[segment]
    if given is None or text is None or (isinstance(given, list) and not given):
        return ()
    if not isinstance(given, list):
        raise InputError(f"a rationale is a {type(given).__name__}; give a list of [start, end], of 0/1 or of indices")
    in_tokens = (columns.rationale or "").endswith("_tokens")
    if all(isinstance(mark, list | tuple) and len(mark) == 2 for mark in given):
        pairs = [(int(start), int(end)) for start, end in given if end != start]
        places = [_joined(pair, _tokens(row, columns, text, segment)) for pair in pairs] if in_tokens else pairs
    else:
        places = _marked(given, _tokens(row, columns, text, segment))
    return tuple(sorted({Span(segment, *_inside(place, text)) for place in places if place is not None}))


def _tokens(row: Mapping[str, Any], columns: Columns, text: str, segment: int) -> list[Place | None]:
    column = columns.tokens_pair if segment else columns.tokens
    tokens = plain(cell(row, column))
    return list(words(text)) if tokens is None else align([str(token) for token in tokens], text)


def _marked(given: list[Any], tokens: list[Place | None]) -> list[Place | None]:
    """The places of the tokens that a list of 0/1 or of indices marks."""
    if not all(isinstance(mark, bool | int) for mark in given):
        raise InputError(f"a rationale holds {given[:3]}...; give [start, end] pairs, 0/1 per token or token indices")
    if len(given) == len(tokens) and set(given) <= {0, 1}:
        return [place for mark, place in zip(given, tokens, strict=True) if mark]
    if any(isinstance(mark, bool) for mark in given) or len(set(given)) < len(given):
        raise InputError(f"a rationale marks {len(given)} tokens with 0/1, but there are {len(tokens)} tokens")
    if min(given) < 0 or max(given) >= len(tokens):
        raise InputError(f"a rationale names token {max(given, key=abs)}, but there are {len(tokens)} tokens")
    return [tokens[index] for index in given]


def _joined(pair: Place, tokens: list[Place | None]) -> Place | None:
    """From the first to the last of the tokens [start, end)."""
    start, end = pair
    if not 0 <= start < end <= len(tokens):
        raise InputError(f"a rationale names tokens [{start}, {end}), but there are {len(tokens)} tokens")
    found = [place for place in tokens[start:end] if place is not None]
    return (found[0][0], found[-1][1]) if found else None


def _inside(place: Place, text: str) -> Place:
    start, end = place
    if not 0 <= start < end <= len(text):
        raise InputError(f"a rationale marks characters [{start}, {end}), but the text has {len(text)}")
    return place
