"""Notes on texts: markup, damaged characters, empty cells written as words, repetitions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from assay.core.types import Example

TAG = re.compile(
    r"</?(?:a|b|body|br|code|div|em|font|h[1-6]|hr|html|i|img|li|ol|p|pre|s|small|span|strong|table|td|tr|u|ul)\b[^<>]*>"
    r"|&(?:amp|lt|gt|quot|nbsp|#\d+);",
    re.IGNORECASE,
)
DAMAGED = re.compile("[ÃÂ][\u0080-\u00bf]|â€|\ufffd")  # UTF-8 that was read as Latin-1, and characters given up
EMPTY_WORDS = ("nan", "NaN", "None", "null", "NULL", "N/A", "n/a", "NA", "<NA>", "#N/A")  # how tables write no value
TOKENS = re.compile(r"(?<=\s)##\w+|<unk>|\[UNK\]|@@(?=\s)", re.IGNORECASE)  # what tokenizers leave in a corpus
RARE = 0.01  # share of examples below which nothing is said


def text_notes(examples: Sequence[Example]) -> Iterator[str]:
    """What the user should know about the texts."""
    texts = [text for example in examples for text in (example.text, example.text_pair) if text is not None]
    yield from _matching(texts, TAG, "contain HTML such as {!r}, which the model reads as words")
    yield from _matching(texts, DAMAGED, "contain damaged characters such as {!r}; check the encoding of the file")
    yield from _matching(texts, TOKENS, "contain marks of a tokenizer such as {!r}; give the texts as people read them")
    empty = [text for text in texts if text.strip() in EMPTY_WORDS]
    if is_common(len(empty), len(texts)):
        yield f"{share(len(empty), len(texts))} texts are words such as {empty[0]!r}, perhaps empty cells."
    yield from _repetitions(examples)


def share(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,}"


def is_common(part: int, whole: int) -> bool:
    return part > 0 and part >= RARE * whole


def _matching(texts: Sequence[str], pattern: re.Pattern[str], words: str) -> Iterator[str]:
    found = [match[0] for text in texts if (match := pattern.search(text))]
    if is_common(len(found), len(texts)):
        yield f"{share(len(found), len(texts))} texts {words.format(found[0])}."


def _repetitions(examples: Sequence[Example]) -> Iterator[str]:
    labels: dict[Any, set[Any]] = {}  # of each input
    texts = [example for example in examples if example.text is not None]
    for example in texts:
        found = labels.setdefault((example.text, example.text_pair, example.removed), set())
        found |= set() if example.label is None else {example.label}
    repeated, conflicts = len(texts) - len(labels), sum(len(found) > 1 for found in labels.values())
    if is_common(repeated, len(texts)):
        yield f"{share(repeated, len(texts))} inputs repeat an earlier one; they count as examples of their own."
    if is_common(conflicts, len(labels)):
        yield f"{share(conflicts, len(labels))} different inputs occur with more than one label."
    same = sum(example.text == example.text_pair for example in texts)
    if 2 * same > len(texts):
        yield f"In {share(same, len(texts))} pairs both texts are the same."
