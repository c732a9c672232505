"""Find the words of a list in the text they were made from, in order and without skipping a letter.

Tokenizers change case and accents, mark the parts of words (##ing, Ġword, ▁word) and add special tokens such as [CLS].
A word that does not come next is an error, never a guess: its score would land on another word.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache

from assay.core.errors import InputError
from assay.core.types import Span

Letter = tuple[str, tuple[int, int]]  # a folded character, with its segment and index
BORDER = "\x1e"  # between the two texts of a pair
MARKS = re.compile(r"^(##|[ĠĊ▁]+)|(</w>|@@)$")  # of the parts of words
SPECIAL = re.compile(r"\[[A-Z]+\d*\]|<[^<>\s]*>")
UNKNOWN = re.compile(r"\[UNK\]|<unk>", re.IGNORECASE)
TREEBANK = {"``": '"', "''": '"', "-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
QUOTES = {**dict.fromkeys("“”„‟«»", '"'), **dict.fromkeys("‘’‚‛`´′", "'")}


def place_words(words: Sequence[str], texts: Sequence[str]) -> list[Span | None]:
    """The characters of each word; None for a special token, or white space. Two texts are read one after the other."""
    letters = list(_letters(texts))
    folded = "".join(letter for letter, _ in letters)
    places: list[Span | None] = []
    at, unknown = 0, False  # place in `folded`; whether the last word stands for characters that are not known
    for n, word in enumerate(words):
        start, length = _after_gap(letters, folded, at, word) if unknown else _next(folded, at, word)
        if start is None:
            if _folded_word(word) and not SPECIAL.fullmatch(word.strip()):
                raise InputError(_lost(n, word, letters[at:], texts))
            places.append(None)
            unknown = unknown or UNKNOWN.fullmatch(word.strip()) is not None
            continue
        if unknown:
            _fill(places, words, _span(letters[at:start], texts))
        places.append(_span(letters[start : start + length], texts))
        at, unknown = start + length, False
    if unknown:
        _fill(places, words, _span(letters[at:], texts))
    return places


def is_visible(char: str) -> bool:
    """Not white space, and not one of the control and format characters that tokenizers drop."""
    return not char.isspace() and unicodedata.category(char)[0] != "C"


def _forms(word: str) -> list[str]:
    """A word as it is, and without the marks of a tokenizer."""
    forms = dict.fromkeys((_folded_word(word), _folded_word(MARKS.sub("", word.strip()))))
    return [form for form in forms if form]


def _next(folded: str, at: int, word: str) -> tuple[int | None, int]:
    """Where a word comes next, and its length; only signs may be skipped."""
    for form in _forms(word):
        start = folded.find(form, at)
        if start >= 0 and not any(char.isalnum() for char in folded[at:start]):
            return start, len(form)
    return None, 0


def _after_gap(letters: Sequence[Letter], folded: str, at: int, word: str) -> tuple[int | None, int]:
    """The same after an unknown word, which has at least one character; the next word begins where a word begins."""
    for form in _forms(word):
        start = folded.find(form, at + 1)
        while start >= 0:
            (segment, i), (segment_before, before) = letters[start][1], letters[start - 1][1]
            if (segment, i - 1) != (segment_before, before) or not folded[start - 1].isalnum():
                return start, len(form)
            start = folded.find(form, start + 1)
    return None, 0


def _fill(places: list[Span | None], words: Sequence[str], gap: Span | None) -> None:
    """Give the unknown words at the end of `places` the characters up to the next known word."""
    for n in range(len(places) - 1, -1, -1):
        if places[n] is not None:
            return
        if UNKNOWN.fullmatch(words[n].strip()):
            places[n] = gap


def _letters(texts: Sequence[str]) -> Iterator[Letter]:
    """Every character that counts, folded, with its place."""
    for segment, text in enumerate(texts):
        if segment:
            yield BORDER, (segment, 0)
        for i, char in enumerate(text):
            yield from ((letter, (segment, i)) for letter in _folded(char))


def _span(letters: Sequence[Letter], texts: Sequence[str]) -> Span | None:
    """From the first letter to the last, with the accents that follow it."""
    places = [place for letter, place in letters if letter != BORDER]
    if not places:
        return None
    segment, end = places[-1]
    end += 1
    while end < len(texts[segment]) and unicodedata.category(texts[segment][end])[0] == "M":
        end += 1
    return Span(segment, places[0][1] if places[0][0] == segment else 0, end)


def _folded_word(word: str) -> str:
    return "".join(map(_folded, TREEBANK.get(word.strip(), word)))


@cache
def _folded(char: str) -> str:
    """A character without case, accents and the forms of quotation marks; nothing for what is not visible."""
    if not is_visible(char):
        return ""
    plain = unicodedata.normalize("NFKD", QUOTES.get(char, char)).casefold()
    return "".join(c for c in plain if unicodedata.category(c)[0] != "M" and not c.isspace())


def _lost(n: int, word: str, rest: Sequence[Letter], texts: Sequence[str]) -> str:
    place = next((place for letter, place in rest if letter != BORDER), None)
    after = "is at its end" if place is None else f"goes on with {texts[place[0]][place[1] : place[1] + 20]!r}"
    return (
        f"word {n + 1}, {word!r}, does not come next in the text, which {after}; "
        "give all words in the order of the text, or give character spans"
    )
