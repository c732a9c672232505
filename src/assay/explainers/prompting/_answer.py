"""What a language model answers when it is asked for words of a text, and which of them the text has."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from typing import NamedTuple

from assay.core.words import word_pattern

LONGEST = 20_000  # characters of an answer that are read
PHRASE = 4  # words of an item of a list; a longer one is a sentence about words
_ITEMS = re.compile(r"[,;|•·>、，]+|\s[-–—]\s|\s(?:and|&)\s|\s\d{1,3}[.)]\s", re.IGNORECASE)
_NUMBER = re.compile(r"^\W*\d{1,3}\s*[.):\]]+\s*")
_QUOTED = re.compile(r"[\"“”«»`*]+([^\"“”«»`*\n]{1,60})[\"“”«»`*]+|(?<!\w)['‘]([^'’\n]{1,60})['’](?!\w)")
_REMARK = re.compile(r"(?<=\S)\s+\([^)]*\)?|<[^<>]*>")


class Answer(NamedTuple):
    """The words of the text that an answer names, best first, and how many words it names that the text lacks."""

    ranked: list[str]  # keys of words
    dropped: int


def key_of(word: str) -> str:
    """A word as it is compared: without case and width."""
    return unicodedata.normalize("NFKC", word).casefold()


def read_answer(answer: str, words: Collection[str]) -> Answer:
    """Read a list in whatever form: commas, lines, numbers, bullets, quotes, JSON, or quoted words in sentences.

    words: keys of the text's own. A word that is named again counts once, at its first place. A sentence without quoted
    words names none, and counts as one word that the text lacks.
    """
    ranked: dict[str, None] = {}
    dropped: set[str] = set()
    for line in answer[:LONGEST].splitlines():
        for word in _named(line, words):
            if word in words:
                ranked[word] = None
            else:
                dropped.add(word)
    return Answer(list(ranked), len(dropped))


def _named(line: str, words: Collection[str]) -> list[str]:
    """What a line names: the words of the items of a list, or the quoted words of a sentence."""
    items = [_bare(item, words) for item in _ITEMS.split(_NUMBER.sub("", line))]
    sentences = [item for item in items if len(_words(item)) > PHRASE]
    if not sentences:
        return [word for item in items for word in _words(item)]
    quoted = [a or b for a, b in _QUOTED.findall(line)]
    return [word for item in quoted for word in _words(item)] or sentences[:1]


def _bare(item: str, words: Collection[str]) -> str:
    """An item without its number, remarks in brackets, and what stands on the other side of a colon."""
    item = _REMARK.sub(" ", _NUMBER.sub("", item.strip()))
    before, colon, after = item.partition(":")
    first = _words(before)
    return after if colon and (len(first) > 2 or not any(word in words for word in first)) else before


def _words(item: str) -> list[str]:
    """The words of an item by their keys, without punctuation."""
    return [key_of(word) for word in word_pattern().findall(item) if is_word(word)]


def is_word(text: str) -> bool:
    """Whether it has a letter or digit; punctuation has none."""
    return any(c.isalnum() for c in text)
