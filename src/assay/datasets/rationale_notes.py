"""Notes on rationales: offsets that do not count characters, and masks that may be inverted."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

from assay.core.types import Example, Span
from assay.datasets.images import size_of
from assay.datasets.text_notes import is_common, share

MOST = 0.5  # share of the pixels above which masks are likely to be inverted
CUT = 0.2  # share of spans inside words above which offsets are likely to count something else


def rationale_notes(examples: Sequence[Example]) -> Iterator[str]:
    """What the user should know about the places that rationales mark."""
    texts = [example for example in examples if example.text is not None]
    marked = [(_text(example, span), span) for example in texts for spans in example.rationales for span in spans]
    blank = sum(not text[span.start : span.end].strip() for text, span in marked)
    if is_common(blank, len(marked)):
        yield f"{share(blank, len(marked))} rationale spans mark only blanks; {_ADVICE}"
    cut = [text[span.start : span.end] for text, span in marked if _cuts_word(text, span)]
    if len(cut) > CUT * len(marked):
        yield f"{share(len(cut), len(marked))} rationale spans begin or end inside a word ({cut[0]!r}); {_ADVICE}"
    shares = list(_marked_shares(examples))
    if shares and (mean := sum(shares) / len(shares)) > MOST:
        yield (
            f"rationales mark {100 * mean:.0f} % of the pixels of an image, on average: if they are masks, check that "
            "they are not inverted (0 is the background)."
        )


def _marked_shares(examples: Sequence[Example]) -> Iterator[float]:
    """Of every image and annotator: the share of the pixels that the rationale marks."""
    for example in examples:
        if example.image is not None and example.rationales:
            width, height = size_of(example.image)
            for spans in example.rationales:
                yield sum(span.end - span.start for span in spans) / (width * height)


_ADVICE = (
    "offsets count characters (not bytes) from 0, and the end offset is not included; they count tokens only in a "
    "column named ..._tokens."
)


def _text(example: Example, span: Span) -> str:
    return (example.text_pair if span.segment else example.text) or ""


def _cuts_word(text: str, span: Span) -> bool:
    inside = (at for at in span[1:] if 0 < at < len(text))
    return any(_is_letter(text[at - 1]) and _is_letter(text[at]) for at in inside)


def _is_letter(char: str) -> bool:
    """Of a script with blanks between words, unlike Chinese: with two cases, or from right to left; accents too."""
    return unicodedata.category(char) in ("Lu", "Ll", "Mn") or unicodedata.bidirectional(char) in ("R", "AL")
