"""Words by Unicode rules: what a word is in a text, whatever the language."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

# Scripts without spaces, one word per character: kana and Chinese characters, Thai, Lao, Burmese and Khmer.
_ALONE = (
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff"
)
_JOINERS = "\u200c\u200d"  # inside Persian and Indic words
_MODIFIERS = "\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f"  # skin tones, tags of flags
_FLAG = "[\U0001f1e6-\U0001f1ff]{2}"


@cache
def word_pattern() -> re.Pattern[str]:
    """Pattern of a word: letters, a character of a script without spaces, a flag, or an emoji with its modifiers.

    Combining marks (accents, vowel signs, Hebrew points) stay with their letter; `\\w` does not match them.
    """
    codes = [*range(0x300, 0x20000), *range(0xE0100, 0xE01F0)]  # the ranges that contain all of them
    marks = "".join(chr(code) for code in codes if unicodedata.category(chr(code))[0] == "M")
    letters = rf"(?:[^\W{_ALONE}][{marks}{_JOINERS}]*)+"
    symbol = rf"[^\w\s][{marks}{_MODIFIERS}]*"
    return re.compile(rf"[{_ALONE}][{marks}]*|{letters}(?:['’]{letters})*|{_FLAG}|{symbol}(?:\u200d{symbol})*")
