"""Units: what gets a score. Texts are divided into tokens, words or sentences, images into patches."""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from assay.core.errors import InputError, SpecError, UnsupportedError, nearest
from assay.core.types import Span, Unit
from assay.core.words import word_pattern
from assay.masking.special_tokens import TokenName, add_special_tokens
from assay.models.encoding import SPECIAL, Encoding

if TYPE_CHECKING:
    from assay.models.model import Model

KINDS = ("token", "word", "sentence", "patch")
SCOPES = {"text": 0, "text_pair": 1}

_SENTENCE = re.compile(r"\S.*?(?:[.!?؟۔।]+[\"'”’)\]]*(?=\s|$)|[。！？]+|\n|$)", re.DOTALL)


def divide(
    encoding: Encoding, kind: str = "token", scope: int | str | None = None, special: TokenName | None = None
) -> Encoding:
    """The encoding with its units; those that the model reads come first and are the columns of masks.

    special: the text of a special token by its id, where special tokens are units too.
    """
    check_kind(kind, images=encoding.pixels is not None)
    units, unit_of = _patches(encoding) if encoding.pixels is not None else _texts(encoding, kind)
    if special is not None:
        units, unit_of = add_special_tokens(encoding, units, unit_of, special)
    units, unit_of = _scoped(units, unit_of, scope)
    if not any(unit.seen and not unit.is_special for unit in units):
        if units or scope is None:
            raise InputError("nothing to explain: the tokenizer gives no tokens; give at least one word")
        raise InputError(f"nothing to explain in scope {scope!r}: there is no such text; give a pair or omit the scope")
    return replace(encoding, units=units, unit_of=unit_of)


def kind_for(model: Model, kind: str) -> str:
    """The kind of units of a model: a function has no tokens of its own, so its tokens are words."""
    return "word" if model.family.opaque and kind == "token" else kind


def check_kind(kind: str, *, images: bool) -> None:
    """Raise unless texts (or images) can be divided into units of this kind."""
    if kind not in KINDS:
        raise SpecError(f"unknown unit {kind!r}; {nearest(kind, KINDS)}")
    if images and kind in ("word", "sentence"):
        raise UnsupportedError(f"units={kind!r}: an image has no {kind}s; use units='patch'")
    if not images and kind == "patch":
        raise UnsupportedError("units='patch': a text has no patches; use token, word or sentence")


def to_units(scores: Tensor, encodings: list[Encoding], unit_of: Tensor) -> list[np.ndarray[Any, Any]]:
    """Scores of units: (B,T) scores summed, or the L2 norm of (B,T,D) vectors summed; 0 for unseen units."""
    out = unit_scores(scores, unit_of, max(e.players for e in encodings)).float().numpy(force=True)
    return [pad_unseen(row[: e.players], e) for row, e in zip(out, encodings, strict=True)]


def unit_scores(scores: Tensor, unit_of: Tensor, players: int) -> Tensor:
    """(B,players) by the same rule as a differentiable tensor; 0 where an input has fewer units."""
    index = torch.where(unit_of < 0, players, unit_of)  # positions without a unit go to a last bin, dropped below
    vectors = scores if scores.dim() == 3 else scores.unsqueeze(-1)
    sums = vectors.new_zeros(len(scores), players + 1, vectors.shape[-1])
    sums = sums.scatter_add(1, index.unsqueeze(-1).expand_as(vectors), vectors)
    return (sums.norm(dim=-1) if scores.dim() == 3 else sums.squeeze(-1))[:, :players]


def pad_unseen(scores: np.ndarray[Any, Any], encoding: Encoding) -> np.ndarray[Any, Any]:
    """Scores of the units that the model reads, then zeros for the unseen units."""
    return np.concatenate([scores, np.zeros(len(encoding.units) - encoding.players)]).astype(np.float32)


# --- texts -------------------------------------------------------------------------------------------------------


def _texts(encoding: Encoding, kind: str) -> tuple[tuple[Unit, ...], Any]:
    texts = [encoding.example.text or "", encoding.example.text_pair or ""]
    seen = [_trim(span, texts) for span in encoding.spans]  # (T,)
    unseen = [_trim(span, texts) for span in encoding.unseen]
    tokens = [span for span in seen + unseen if span.start < span.end]
    cuts = [] if kind == "token" else _cut(texts, word_pattern() if kind == "word" else _SENTENCE)
    bounds = _merged(cuts + tokens)
    owner = _owners(bounds, seen)
    order = sorted(set(owner) - {-1})
    rank = {bound: i for i, bound in enumerate(order)}
    later = [i for i in sorted({_find(bounds, span) for span in unseen} - set(order)) if i >= 0]
    units = [_unit(bounds[i], texts, is_seen) for group, is_seen in ((order, True), (later, False)) for i in group]
    return tuple(units), np.asarray([rank.get(i, -1) for i in owner], np.int64)


def _trim(span: Span, texts: list[str]) -> Span:
    """The span without white space at its ends; empty if there is nothing else."""
    if span == SPECIAL:
        return span
    text = texts[span.segment][span.start : span.end]
    start = span.start + len(text) - len(text.lstrip())
    return Span(span.segment, start, max(start, span.start + len(text.rstrip())))


def _cut(texts: list[str], pattern: re.Pattern[str]) -> list[Span]:
    spans = [Span(i, *match.span()) for i, text in enumerate(texts) for match in pattern.finditer(text)]
    return [s for span in spans if (s := _trim(span, texts)).start < s.end]


def _merged(spans: Iterable[Span]) -> list[Span]:
    """Overlapping spans joined: words that share a token become one unit, as do the tokens of one character."""
    joined: list[Span] = []
    for span in sorted(set(spans)):
        last = joined[-1] if joined else SPECIAL
        if last.segment == span.segment and span.start < last.end:
            joined[-1] = last._replace(end=max(last.end, span.end))
        else:
            joined.append(span)
    return joined


def _find(bounds: list[Span], span: Span) -> int:
    """Index of the bound that contains a span's first character, or -1."""
    if span.segment < 0 or span.start >= span.end:
        return -1
    at = bisect_right(bounds, (span.segment, span.start), key=lambda bound: (bound.segment, bound.end))
    hit = at < len(bounds) and bounds[at].segment == span.segment and bounds[at].start < span.end
    return at if hit else -1


def _owners(bounds: list[Span], spans: list[Span]) -> list[int]:
    """Index of the bound of each position; a token without visible characters joins the next one of its segment."""
    owner = [_find(bounds, span) for span in spans]
    for direction in (-1, 1):  # first look ahead, then back
        order: Callable[[range], Any] = reversed if direction < 0 else iter
        for t in order(range(len(spans))):
            near = t - direction
            if owner[t] < 0 and spans[t].segment >= 0 and 0 <= near < len(spans):
                owner[t] = owner[near] if spans[near].segment == spans[t].segment else -1
    return owner


def _unit(bound: Span, texts: list[str], seen: bool) -> Unit:
    text = sys.intern(texts[bound.segment][bound.start : bound.end])  # words repeat: one copy of each saves memory
    return Unit(text, bound.start, bound.end, bound.segment, seen=seen)


# --- images and scopes -------------------------------------------------------------------------------------------


def _patches(encoding: Encoding) -> tuple[tuple[Unit, ...], Any]:
    units = tuple(Unit(f"patch {i}", i, i + 1, box=box) for i, box in enumerate(encoding.boxes))
    return units, np.asarray([-1 if span == SPECIAL else span.start for span in encoding.spans], np.int64)


def _scoped(units: tuple[Unit, ...], unit_of: Any, scope: int | str | None) -> tuple[tuple[Unit, ...], Any]:
    if scope is None:
        return units, unit_of
    segment = SCOPES.get(scope, -1) if isinstance(scope, str) else scope
    if segment not in SCOPES.values():
        raise SpecError(f"unknown scope {scope!r}; allowed: text (0), text_pair (1)")
    inside = [i for i, unit in enumerate(units) if unit.segment == segment]
    rank = {old: new for new, old in enumerate(inside)}
    return tuple(units[i] for i in inside), np.asarray([rank.get(int(u), -1) for u in unit_of], np.int64)
