"""Text that is safe to print: what came from a file, a model or a user must not steer the terminal."""

from __future__ import annotations

import re

# Control characters except tab and line feed, changes of writing direction, and halves of surrogate pairs, which
# cannot be printed at all. Joiners and direction marks stay: emoji and Arabic need them.
UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """The text without the characters that could move the cursor, change colours or hide other text."""
    return UNPRINTABLE.sub("", text)


def one_line(text: str) -> str:
    """Printable text on one line, for names and labels: a line break in one could pass for a message of its own."""
    return " ".join(printable(text).split())


def shortened(text: str, width: int) -> str:
    """Printable text on one line, cut to a number of characters."""
    line = one_line(text)
    return line if len(line) <= width else f"{line[: width - 1]}…"
