"""Convert rationales of any format to character spans.

For one text: [[start, end], ...] in characters; 0/1 per token; token indices; in a column named ..._tokens,
[[start, end], ...] in tokens; in a column named ...spans, indices of characters; objects with a start and an end.
Tokens come from the tokens column, or else are whitespace-separated words. For a pair: an object with one of these per
text. For several annotators: a list of these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from assay.core.cells import parse_cell
from assay.core.errors import InputError
from assay.core.types import Span
from assay.datasets.columns import Columns, is_swapped
from assay.datasets.evidences import bounds, check_words, places
from assay.datasets.tokens import CharRange, align_tokens, word_spans

Spans = tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class _Source:
    """What marks refer to: the row, its columns and its texts."""

    row: Mapping[str, Any]
    columns: Columns
    texts: Sequence[str | None]

    def tokens(self, segment: int) -> list[CharRange | None]:
        tokens = parse_cell(cell(self.row, self.columns.tokens_pair if segment else self.columns.tokens))
        text = self.texts[segment] or ""
        if tokens is None:
            return list(word_spans(text))
        tokens = tokens.split() if isinstance(tokens, str) else [str(token) for token in tokens]
        found = align_tokens(tokens, text)
        if 2 * found.count(None) > len(found):
            column = self.columns.tokens_pair if segment else self.columns.tokens
            raise InputError(
                f"the tokens in {column!r} are not those of the text: {found.count(None)} of {len(found)} are not in it"
            )
        return found


def rationales_from_row(row: Mapping[str, Any], columns: Columns, texts: Sequence[str | None]) -> tuple[Spans, ...]:
    """The spans of each annotator; empty if no annotator marked anything."""
    if columns.rationales is columns.rationale is columns.rationale_pair is None:
        return ()
    source = _Source(row, columns, texts)
    several = parse_cell(cell(row, columns.rationales))
    if several is not None:
        marked = int(is_swapped(columns))  # the text that such a column is about, unless it names the texts
        spans = [_annotator(marks, columns.rationales, source, marked) for marks in agreeing(several, row, columns)]
    else:
        single = enumerate((columns.rationale, columns.rationale_pair))
        parts = [_annotator(parse_cell(cell(row, column)), column, source, segment) for segment, column in single]
        spans = [parts[0] + parts[1]]
    return tuple(spans) if any(spans) else ()


def cell(row: Mapping[str, Any], column: str | None) -> Any:
    """The value of a column; None if the role has no column or the row lacks it."""
    return None if column is None else row.get(column)


def agreeing(several: Any, row: Mapping[str, Any], columns: Columns) -> list[Any]:
    """The rationales of annotators who chose the example's label; the others justify another label."""
    if not isinstance(several, list):
        raise InputError(f"rationales must be a list with one rationale per annotator, not {type(several).__name__}")
    labels = parse_cell(cell(row, columns.annotator_labels))
    if labels is None:
        return several
    return [rationale for rationale, label in zip(several, labels, strict=True) if label == cell(row, columns.label)]


def _annotator(rationale: Any, column: str | None, source: _Source, segment: int) -> Spans:
    """The spans of one annotator, in the text `segment` unless the rationale names the texts."""
    if not isinstance(rationale, Mapping):
        return _marks(rationale, column, source, segment)
    columns = source.columns
    segments = {"text": 0, columns.text: 0, "text_pair": 1, columns.text_pair: 1}
    if not set(rationale) <= {*segments, *source.row}:
        raise InputError(
            f"the rationale has the keys {', '.join(map(str, rationale))}; use the names of the texts: "
            f"{', '.join(str(c) for c in (columns.text, columns.text_pair) if c)}"
        )
    parts = [(segments[key], value) for key, value in rationale.items() if key in segments]  # ignore unused texts
    return tuple(span for segment, value in parts for span in _marks(value, column, source, segment))


def _marks(marks: Any, column: str | None, source: _Source, segment: int) -> Spans:
    """The sorted spans of one annotator in one text."""
    text = source.texts[segment]
    if marks is None or text is None or (isinstance(marks, list) and not marks):
        return ()
    if not isinstance(marks, list):
        raise InputError(f"a rationale must be a list of [start, end], 0/1 or indices, not {type(marks).__name__}")
    in_tokens, in_characters = ((column or "").endswith(end) for end in ("_tokens", "spans"))
    objects = places(marks)
    ranges: Sequence[CharRange | None]
    if objects is not None:
        ranges = _quoted(objects, source, segment)
    elif all(isinstance(mark, list | tuple) and len(mark) == 2 for mark in marks):
        ranges = _ranges(marks, source.tokens(segment) if in_tokens else None)
    elif in_characters:
        ranges = _runs(marks)
    else:
        ranges = _marked_tokens(marks, source.tokens(segment))
    spans = [Span(segment, *_check_inside(place, text)) for place in ranges if place is not None]
    return tuple(sorted(set(spans)))


def _quoted(objects: list[Mapping[str, Any]], source: _Source, segment: int) -> list[CharRange | None]:
    pairs, in_tokens = bounds(objects)
    ranges = _ranges(pairs, source.tokens(segment) if in_tokens else None)
    marked = [place for place, (start, end) in zip(objects, pairs, strict=True) if start != end]
    for place, found in zip(marked, ranges, strict=True):
        if found is not None:
            check_words(place, (source.texts[segment] or "")[slice(*found)])
    return ranges


def _ranges(marks: Sequence[Sequence[Any]], tokens: list[CharRange | None] | None) -> list[CharRange | None]:
    """The characters between each start and end, which count tokens if there are any."""
    pairs = [_pair(mark) for mark in marks if mark[0] != mark[1]]
    return [pair if tokens is None else _token_range(pair, tokens) for pair in pairs]


def _pair(mark: Sequence[Any]) -> CharRange:
    try:
        start, end = map(int, mark)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"cannot read the place {list(mark)!r} of a rationale; give [start, end] as whole numbers"
        ) from error
    return start, end


def _marked_tokens(marks: list[Any], tokens: list[CharRange | None]) -> list[CharRange | None]:
    """The ranges of the tokens marked by a list of 0/1 or of indices."""
    if not all(isinstance(mark, bool | int) for mark in marks):
        raise InputError(f"cannot read the rationale {marks[:3]}...; give [start, end] pairs, 0/1 per token or indices")
    if len(marks) == len(tokens) and set(marks) <= {0, 1}:
        return [token for mark, token in zip(marks, tokens, strict=True) if mark]
    if any(isinstance(mark, bool) for mark in marks) or len(set(marks)) < len(marks):
        raise InputError(f"the rationale has {len(marks)} marks (0/1), but there are {len(tokens)} tokens")
    if min(marks) < 0 or max(marks) >= len(tokens):
        raise InputError(
            f"the rationale refers to token {max(marks, key=abs)}, but there are {len(tokens)} tokens; "
            "indices of characters need a column whose name ends with 'spans'"
        )
    return [tokens[index] for index in marks]


def _runs(marks: list[Any]) -> list[CharRange | None]:
    """The ranges of characters that are marked one by one: [8, 9, 10, 14] is [8, 11) and [14, 15)."""
    if not all(type(mark) is int for mark in marks):
        raise InputError(f"cannot read the spans {marks[:3]}...; give [start, end] pairs or indices of characters")
    runs: list[CharRange | None] = []
    for _, group in groupby(enumerate(sorted(set(marks))), key=lambda pair: pair[1] - pair[0]):
        places = [place for _, place in group]
        runs.append((places[0], places[-1] + 1))
    return runs


def _token_range(pair: CharRange, tokens: list[CharRange | None]) -> CharRange | None:
    """The characters from the first to the last of the tokens [start, end)."""
    start, end = pair
    if not 0 <= start < end <= len(tokens):
        raise InputError(f"the rationale refers to tokens [{start}, {end}), but there are {len(tokens)} tokens")
    ranges = [token for token in tokens[start:end] if token is not None]
    return (ranges[0][0], ranges[-1][1]) if ranges else None


def _check_inside(place: CharRange, text: str) -> CharRange:
    start, end = place
    if not 0 <= start < end <= len(text):
        raise InputError(f"the rationale refers to characters [{start}, {end}), but the text has {len(text)}")
    return place
