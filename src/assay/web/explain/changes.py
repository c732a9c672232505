"""Before and after an edit: which words stayed, and how the scores of these changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

import numpy as np

from assay.core.types import Attribution, Unit
from assay.core.words import word_pattern


@dataclass(frozen=True)
class Word:
    """One word of a text; place is "" for one that was removed."""

    gap: str
    text: str
    kind: str  # kept, removed or added
    place: str = ""


def words(text: str, before: str | None, segment: int) -> tuple[list[Word], str]:
    """The words of a text, with those that an edit removed in their old places; and what follows the last word."""
    new, old = list(word_pattern().finditer(text)), list(word_pattern().finditer(text if before is None else before))
    out: list[Word] = []
    end = 0
    for change, i1, i2, j1, j2 in _opcodes([m[0] for m in old], [m[0] for m in new]):
        if change in ("delete", "replace"):
            out += [Word(" " if out or i > i1 else "", old[i][0], "removed") for i in range(i1, i2)]
        for match in new[j1:j2]:
            kind = "kept" if change == "equal" else "added"
            gap = text[end : match.start()] or (" " if out and out[-1].kind == "removed" else "")
            out.append(Word(gap, match[0], kind, f"{segment}:{match.start()}-{match.end()}"))
            end = match.end()
    return out, text[end:]


def change(before: Attribution, after: Attribution) -> Attribution:
    """`after` with the change of each score; a unit that was not there before has its whole score."""
    earlier = dict(zip(before.units, before.scores, strict=True))
    old = [0.0 if unit is None else float(earlier[unit]) for unit in partners(before.units, after.units)]
    return replace(after, scores=(after.scores - np.asarray(old)).astype(np.float32))


def partners(before: tuple[Unit, ...], after: tuple[Unit, ...]) -> list[Unit | None]:
    """For each unit of an edited text, the same unit of the text before; None for a new one."""
    found: list[Unit | None] = [None] * len(after)
    for segment in (0, 1):
        old = sorted((unit for unit in before if unit.segment == segment), key=_start)
        new = sorted((i for i, unit in enumerate(after) if unit.segment == segment), key=lambda i: _start(after[i]))
        texts = [unit.text for unit in old], [after[i].text for i in new]
        for kind, i1, i2, j1, _ in _opcodes(*texts):
            if kind == "equal":
                for offset in range(i2 - i1):
                    found[new[j1 + offset]] = old[i1 + offset]
    return found


def _start(unit: Unit) -> tuple[int, int]:
    return unit.start, unit.end


def _opcodes(old: list[str], new: list[str]) -> Sequence[tuple[str, int, int, int, int]]:
    return SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
