"""How strongly a score is coloured: relative to the largest score, but noise is never stretched into a signal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from assay.core.types import Attribution, Unit

Piece: TypeAlias = "tuple[str, Unit, float]"  # the gap before a unit, the unit, its strength

# Scores that are parts of the explained value are pale below these: a hundredth of a probability, a twentieth of a
# logit, a twentieth of what all units together change.
FLOORS = {"probability": 0.01, "logit": 0.05, "log_probability": 0.05, "log_odds": 0.05}
SHARE = 0.05
FOR, AGAINST = (214, 48, 49), (37, 99, 235)  # red and blue, of scores above and below 0
SEPARATOR = " ‖ "  # between the two texts of a pair


def reach(attributions: Iterable[Attribution]) -> float:
    """The score with the darkest colour, one for all attributions that are compared; 0 if all scores are 0."""
    return max((max(_largest(a), _floor(a)) if _largest(a) else 0.0 for a in attributions), default=0.0)


def strengths(scores: Iterable[Any], darkest: float) -> list[float]:
    """Scores relative to the darkest: -1 to 1."""
    return [max(-1.0, min(1.0, float(s) / darkest)) if darkest > 0 else 0.0 for s in scores]


def pieces(attribution: Attribution, darkest: float | None = None) -> list[Piece]:
    """Units in reading order, each with the gap before it and its strength."""
    of_units = strengths(attribution.scores, reach([attribution]) if darkest is None else darkest)
    ranked = sorted(zip(attribution.units, of_units, strict=True), key=lambda p: (p[0].segment, p[0].start))
    out: list[Piece] = []
    before = None
    for unit, strength in ranked:
        out.append((_gap(attribution, before, unit), unit, strength))
        before = unit
    return out


def segment_text(attribution: Attribution, segment: int) -> str | None:
    """The text of a segment, if the attribution holds it."""
    return attribution.text_pair if segment == 1 else attribution.text


def _gap(attribution: Attribution, before: Unit | None, unit: Unit) -> str:
    """What stands between two units: the text itself, if it is known."""
    first = before is None or before.segment != unit.segment
    end = 0 if before is None or first else before.end
    text = segment_text(attribution, unit.segment)
    plain = "" if first or unit.start <= end else " "
    gap = plain if text is None or unit.box is not None else text[end : unit.start]
    if not first and not gap and (unit.is_special or (before is not None and before.is_special)):
        gap = " "  # a special token stands beside the text, not in it
    return f"{SEPARATOR}{gap}" if first and before is not None else gap


def by_segment(attribution: Attribution, darkest: float | None = None) -> list[tuple[list[Piece], str]]:
    """The pieces of each text with what follows them; a text that was not scored follows no piece."""
    everything, out = pieces(attribution, darkest), []
    for number in (0, 1):
        own = [piece for piece in everything if piece[1].segment == number]
        text = segment_text(attribution, number)
        if own:
            own[0] = (own[0][0].removeprefix(SEPARATOR), *own[0][1:])
        if own or text:
            out.append((own, "" if text is None else text[own[-1][1].end :] if own else text))
    return out


def _largest(attribution: Attribution) -> float:
    return float(np.abs(attribution.scores).max(initial=0.0))


def _floor(attribution: Attribution) -> float:
    if not attribution.in_value:
        return 0.0
    full, empty = attribution.value_full, attribution.value_empty
    whole = 0.0 if full is None or empty is None else abs(full - empty)
    return max(FLOORS.get(str(attribution.target.scale), 0.0), SHARE * whole)


def strongest(attribution: Attribution, count: int) -> Sequence[int]:
    """Indices of the units with the largest scores, whatever their sign, from the highest score to the lowest."""
    chosen = np.argsort(-np.abs(attribution.scores), kind="stable")[:count]
    return [int(i) for i in chosen[np.argsort(-attribution.scores[chosen], kind="stable")]]
