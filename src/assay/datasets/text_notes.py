"""Notes on texts: markup, damaged characters, texts that are something else or cut short, repetitions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from string import whitespace
from typing import Any

from assay.core.printable import shortened
from assay.core.types import Example

RARE = 0.01  # share of examples below which nothing is said
MOST = 0.5  # the same for forms that a single text may well have
EMPTY_WORDS = ("nan", "NaN", "None", "null", "NULL", "N/A", "n/a", "NA", "<NA>", "#N/A")  # how tables write no value
INVISIBLE = f"{whitespace}\xa0\u200b\u200c\u200d\u2060\ufeff\xad"  # blanks, and characters of no width
LONG = 50  # characters; shorter texts may well have one length
SHOWN = 40  # characters of a text in a note
REPEATED = "inputs repeat an earlier one; they count as examples of their own."

MARKUP = (
    r"(?i)</?(?:a|b|body|br|code|div|em|font|h[1-6]|hr|html|i|img|li|ol|p|pre|s|small|span|strong|table|td|tr|u|ul)"
    r"\b[^<>]*>|&(?:amp|lt|gt|quot|nbsp|#\d+);"
)
DAMAGED = "[ÃÂ][\u0080-\u00bf]|â€|\ufffd"  # UTF-8 that was read as Latin-1, and characters given up
TOKENS = r"(?i)(?<=\s)##\w+|<unk>|\[UNK\]|@@(?=\s)"  # what tokenizers leave in a corpus
ESCAPES = r"(?<!\\)\\(?:[nrt](?![a-z])|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2})"  # \nu may be a command of LaTeX
PARTS = {  # of a text
    MARKUP: "contain HTML such as {}, which the model reads as words",
    DAMAGED: "contain damaged characters such as {}; check the encoding of the file",
    TOKENS: "contain marks of a tokenizer such as {}; give the texts as people read them",
    ESCAPES: "contain escape sequences such as {}, which the model reads letter by letter",
}
OBJECT = r"\{\s*[\"'][^:]*:.*\}"
PLACE = r"(?i)(?!.{300})(?:(?:https?|s3|gs|file)://\S+|\S+[/\\]\S+\.\w{2,5}|\S+\.(?:txt|html?|json|pdf|docx?))"
FORMS = {  # of a whole text; each pattern takes time linear in its length
    OBJECT: "are objects such as {}; give the text in them a column of its own",
    PLACE: "are names of files or addresses such as {}: these are read, not what they lead to",
    r"b'.*'|b\".*\"": "are bytes as Python prints them, such as {}; decode them first",
    r"\".*\"|'.*'|“.*”|«.*»": "stand in quotation marks, which the model reads too, such as {}",
    r"(?=.*\d)[\d.,:%+\s-]+": "are numbers such as {}; perhaps another column holds the texts",
    r".*\t.*": "contain tabs, such as {}; if they are rows of a table, name the file .tsv and its columns",
    r"__label__\S+.*": "begin with a label as fastText writes it, such as {}, which the model reads too",
    r".*(?:\.\.\.|…)": "end with dots, such as {}, perhaps because they were cut",
}


def text_notes(examples: Sequence[Example]) -> Iterator[str]:
    """What the user should know about the texts."""
    texts = [text for example in examples for text in (example.text, example.text_pair) if text is not None]
    for pattern, words in PARTS.items():
        found = [match[0] for match in map(re.compile(pattern).search, texts) if match]
        yield from _note(found, texts, words, RARE)
    stripped = [text.strip() for text in texts]
    for pattern, words in FORMS.items():
        found = list(filter(re.compile(pattern, re.DOTALL).fullmatch, stripped))
        yield from _note(found, texts, words, MOST)
    yield from _note([text for text in stripped if text in EMPTY_WORDS], texts, _NO_VALUE, RARE)
    yield from _note([text for text in texts if _is_blank(text)], texts, "are empty", RARE)
    yield from _cut(texts)
    yield from _repetitions(examples)


_NO_VALUE = "are words such as {}, perhaps empty cells"


def share(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,}"


def is_common(part: int, whole: int, least: float = RARE) -> bool:
    return part > 0 and part >= least * whole


def _note(found: Sequence[str], texts: Sequence[str], words: str, least: float) -> Iterator[str]:
    if is_common(len(found), len(texts), least):
        example = repr(shortened(found[0], SHOWN)).replace("\\\\", "\\")
        yield f"{share(len(found), len(texts))} texts {words.format(example)}."


def _is_blank(text: str) -> bool:
    return not text.strip(INVISIBLE)


def _cut(texts: Sequence[str]) -> Iterator[str]:
    """Texts of one and the same greatest length, as a column of a data base or a tool leaves them."""
    lengths = [len(text) for text in texts]
    most = max(lengths, default=0)
    longest = lengths.count(most)
    if most > LONG and longest > 2 and longest >= 0.05 * len(texts) and len(set(texts)) > 2:
        yield f"{share(longest, len(texts))} texts have the greatest length, {most} characters: perhaps they were cut."


def _repetitions(examples: Sequence[Example]) -> Iterator[str]:
    labels: dict[Any, set[Any]] = {}  # of each input
    texts = [example for example in examples if example.text is not None]
    for example in texts:
        found = labels.setdefault((example.text, example.text_pair, example.removed), set())
        found |= set() if example.label is None else {example.label}
    repeated, conflicts = len(texts) - len(labels), sum(len(found) > 1 for found in labels.values())
    if is_common(repeated, len(texts)):
        yield f"{share(repeated, len(texts))} {REPEATED}"
    if is_common(conflicts, len(labels)):
        yield f"{share(conflicts, len(labels))} different inputs occur with more than one label."
    same = sum(example.text == example.text_pair for example in texts)
    if 2 * same > len(texts):
        yield f"In {share(same, len(texts))} pairs both texts are the same."
