"""A tokenizer for models that read whole texts: its tokens are words, and it turns tokens back into texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from assay.core.types import Span
from assay.core.words import word_pattern

Text = str | tuple[str, str]  # what a function reads: a text, or a pair of texts
MASK = 0  # the id of the mask


class Piece(NamedTuple):
    """A word with the white space around it, or a marker of the start or end of a text, which is never removed."""

    before: str
    word: str
    after: str
    place: int = 0  # -1 start of a text, 0 word, 1 end of a text


class Tokens(dict[str, Any]):
    """The words of a text or a pair in the form of transformers' tokenizers."""

    def sequence_ids(self) -> list[int | None]:
        segments: list[int | None] = self["segments"]
        return segments


@dataclass(eq=False)
class WordTokenizer:
    """Gives every word of the texts it has read an id. Removing nothing gives back the very text."""

    mask: str | None = None  # what replaces a masked word; None: words can only be deleted
    unk_token_id: None = None
    pad_token_id: None = None
    _pieces: list[Piece] = field(default_factory=list)
    _ids: dict[Piece, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._pieces.append(Piece("", self.mask or "", ""))

    @property
    def mask_token_id(self) -> int | None:
        return None if self.mask is None else MASK

    def __call__(self, text: str, pair: str | None = None, **_: Any) -> Tokens:
        """Ids and offsets as transformers gives them; its other options do not apply to words."""
        parts = [(segment, *part) for segment, t in enumerate([text, pair]) if t is not None for part in _pieces(t)]
        return Tokens(
            input_ids=[self._id(piece) for _, piece, _ in parts],
            offset_mapping=[(span.start, span.end) for _, _, span in parts],
            special_tokens_mask=[int(piece.place != 0) for _, piece, _ in parts],
            segments=[None if piece.place else segment for segment, piece, _ in parts],
        )

    def text(self, ids: Sequence[int]) -> Text:
        """The text or pair of a row of ids, of which some may be missing or masked."""
        texts, mask = [""], self._pieces[MASK]
        for left, right in pairwise(self._pieces[i] for i in ids):
            if right.place < 0:
                texts.append("")
            else:
                texts[-1] += (" " if left is right is mask else _gap(left, right)) + right.word
        return texts[0] if len(texts) == 1 else (texts[0], texts[1])

    def _id(self, piece: Piece) -> int:
        if piece not in self._ids:
            self._ids[piece] = len(self._pieces)
            self._pieces.append(piece)
        return self._ids[piece]


def _pieces(text: str) -> list[tuple[Piece, Span]]:
    """A start marker, the words and an end marker, each with its characters."""
    spans = [match.span() for match in word_pattern().finditer(text)]
    ends, starts = [0, *(end for _, end in spans)], [*(start for start, _ in spans), len(text)]
    gaps = [text[end:start] for end, start in zip(ends, starts, strict=True)]
    words = [
        (Piece(gaps[i], text[start:end], gaps[i + 1]), Span(0, start, end)) for i, (start, end) in enumerate(spans)
    ]
    nothing, blank = Span(0, 0, 0), "" if words else text  # a text of white space alone stays as it is
    return [(Piece("", "", gaps[0], -1), nothing), *words, (Piece(gaps[-1], blank, "", 1), nothing)]


@lru_cache(maxsize=1 << 16)
def _gap(left: Piece, right: Piece) -> str:
    """The white space between two pieces; what lay between them may have been removed."""
    if left.place and right.place:
        return ""  # nothing is left of the text
    if left.place or right.place:
        return left.after if left.place else right.before
    # two words must never read as one: "either(or)" without "(" is "either or)"
    merged = word_pattern().fullmatch(left.word + right.word)
    return left.after or right.before or (" " if merged else "")
