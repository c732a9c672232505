"""Align the tokens of a list with the text they were made from.

Tokenisers normalise the text: they straighten quotation marks, escape brackets (-LRB-) and drop invisible joiners, and
some lists contain tokens that are not in the text, so that searching for one token after the other goes astray. Exact
search comes first; if it fails, characters are aligned after folding case, accents and punctuation.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import cache

CharRange = tuple[int, int]  # [start, end) in the text

FOLD = {
    **dict.fromkeys('"“”„‟«»〝〞', "''"),
    **dict.fromkeys("'‘’‚‛`´′", "'"),
    **dict.fromkeys("-‐‑‒–—―−", "-"),
    **dict(zip("()[]{}", ("-lrb-", "-rrb-", "-lsb-", "-rsb-", "-lcb-", "-rcb-"), strict=True)),
    "\\": "",  # treebanks write \/ for /
}


def word_spans(text: str) -> list[CharRange]:
    """The character ranges of the words of text.split()."""
    return [match.span() for match in re.finditer(r"\S+", text)]


def align_tokens(tokens: Sequence[str], text: str) -> list[CharRange | None]:
    """The character range of each token; None for a token that is not in the text."""
    return _search(tokens, text) or _fill_gaps(_align_characters(tokens, text), text)


def _search(tokens: Sequence[str], text: str) -> list[CharRange | None] | None:
    """Exact matches separated by whitespace only; None if any token has none."""
    ranges: list[CharRange | None] = []
    end = 0
    for token in tokens:
        start = text.find(token, end)
        if start < 0 or text[end:start].strip():
            return None
        end = start + len(token)
        ranges.append((start, end) if token else None)
    return ranges


def _align_characters(tokens: Sequence[str], text: str) -> list[CharRange | None]:
    """Match the longest common runs of folded characters of the text and of all tokens."""
    left = [(c, i) for i, char in enumerate(text) for c in _folded(char)]
    right = [(c, n) for n, token in enumerate(tokens) for char in token for c in _folded(char)]
    positions: list[list[int]] = [[] for _ in tokens]
    for i, j in _matches([c for c, _ in left], [c for c, _ in right]):
        positions[right[j][1]].append(left[i][1])
    return [_range(token, matched) for token, matched in zip(tokens, positions, strict=True)]


def _range(token: str, matched: Sequence[int]) -> CharRange | None:
    """From the first to the last matched character, if at least half of the token matched within a short range."""
    if len(matched) < len(token) / 2 or matched[-1] - matched[0] >= 2 * len(token) + 2:
        return None
    return matched[0], matched[-1] + 1


def _fill_gaps(ranges: list[CharRange | None], text: str) -> list[CharRange | None]:
    """An unmatched token between two matched ones gets the text between them: <number> gets 42."""
    filled = list(ranges)
    for n, current in enumerate(ranges):
        before = ranges[n - 1] if n else (0, 0)
        after = ranges[n + 1] if n + 1 < len(ranges) else (len(text), len(text))
        if current is None and before is not None and after is not None:
            gap = text[before[1] : after[0]]
            start = before[1] + len(gap) - len(gap.lstrip())
            filled[n] = (start, start + len(gap.strip())) if gap.strip() else None
    return filled


@cache
def _folded(char: str) -> str:
    """A character without what tokenisers change: case, composed accents, whitespace, invisible joiners."""
    if char in FOLD:
        return FOLD[char]
    if char.isspace() or unicodedata.category(char) == "Cf":
        return ""
    return unicodedata.normalize("NFKD", char).casefold().replace(" ", "")


def _matches(left: list[str], right: list[str]) -> list[tuple[int, int]]:
    """Index pairs of equal characters, in order; the slow matcher runs between the common prefix and suffix only."""
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
