"""Where the tokens of a list lie in the text they were made from.

Tokenisers change what they cut: they straighten quotation marks, escape brackets (-LRB-), drop joiners that cannot be
seen, and some lists hold tokens that the text lacks. Searching for each token in turn then runs away from the place.
So: an exact search first, and where that fails an alignment of folded characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import cache

Place = tuple[int, int]  # [start, end) in the text

FOLD = {
    **dict.fromkeys('"“”„‟«»〝〞', "''"),
    **dict.fromkeys("'‘’‚‛`´′", "'"),
    **dict.fromkeys("-‐‑‒–—―−", "-"),
    **dict(zip("()[]{}", ("-lrb-", "-rrb-", "-lsb-", "-rsb-", "-lcb-", "-rcb-"), strict=True)),
    "\\": "",  # treebanks write \/ for /
}


def words(text: str) -> list[Place]:
    """The places of the words between blanks: those of text.split()."""
    return [match.span() for match in re.finditer(r"\S+", text)]


def align(tokens: Sequence[str], text: str) -> list[Place | None]:
    """The place of each token, in order; None for a token that the text does not have."""
    return _search(tokens, text) or _fill(_align(tokens, text), text)


def _search(tokens: Sequence[str], text: str) -> list[Place | None] | None:
    """Each token after the one before with only blanks between; None as soon as one is not there."""
    places: list[Place | None] = []
    at = 0
    for token in tokens:
        start = text.find(token, at)
        if start < 0 or text[at:start].strip():
            return None
        at = start + len(token)
        places.append((start, at) if token else None)
    return places


def _align(tokens: Sequence[str], text: str) -> list[Place | None]:
    """By the longest common runs of folded characters of the whole text and of all tokens."""
    left = [(c, i) for i, char in enumerate(text) for c in _folded(char)]
    right = [(c, n) for n, token in enumerate(tokens) for char in token for c in _folded(char)]
    found: list[list[int]] = [[] for _ in tokens]
    for i, j in _matches([c for c, _ in left], [c for c, _ in right]):
        found[right[j][1]].append(left[i][1])
    return [_place(token, at) for token, at in zip(tokens, found, strict=True)]


def _place(token: str, at: Sequence[int]) -> Place | None:
    """From the first to the last character found, if most of the token is there and nothing else in between."""
    if len(at) < len(token) / 2 or at[-1] - at[0] >= 2 * len(token) + 2:
        return None
    return at[0], at[-1] + 1


def _fill(places: list[Place | None], text: str) -> list[Place | None]:
    """A lost token between two found ones takes what lies between them, if anything does: <number> takes 42."""
    out = list(places)
    for n, place in enumerate(places):
        before = places[n - 1] if n else (0, 0)
        after = places[n + 1] if n + 1 < len(places) else (len(text), len(text))
        if place is None and before is not None and after is not None:
            gap = text[before[1] : after[0]]
            start = before[1] + len(gap) - len(gap.lstrip())
            out[n] = (start, start + len(gap.strip())) if gap.strip() else None
    return out


@cache
def _folded(char: str) -> str:
    """A character as tokenisers may have changed it: no case, no accents apart, no blanks, nothing unseen."""
    if char in FOLD:
        return FOLD[char]
    if char.isspace() or unicodedata.category(char) == "Cf":
        return ""
    return unicodedata.normalize("NFKD", char).casefold().replace(" ", "")


def _matches(left: list[str], right: list[str]) -> list[tuple[int, int]]:
    """Pairs of equal characters in order; only what differs is given to the slow matcher."""
    same = 0
    while same < min(len(left), len(right)) and left[same] == right[same]:
        same += 1
    tail = 0
    while tail < min(len(left), len(right)) - same and left[-1 - tail] == right[-1 - tail]:
        tail += 1
    middle = left[same : len(left) - tail], right[same : len(right) - tail]
    blocks = SequenceMatcher(None, *middle, autojunk=False).get_matching_blocks()
    pairs = [(same + b.a + k, same + b.b + k) for b in blocks for k in range(b.size)]
    end = [(len(left) - k, len(right) - k) for k in range(tail, 0, -1)]
    return [(i, i) for i in range(same)] + pairs + end
