"""Does an explanation teach, or would any have helped? The rule of the study, with a model of the variance.

The study itself asks for a permutation test, which six students cannot pass for three methods. Here the intervals
decide: t intervals with students and texts crossed, corrected for the number of methods in a table (Bonferroni).
"""

from __future__ import annotations

from dataclasses import dataclass

from assay.evaluation.simulability.verdict import FEWEST, HURTS, NO_EFFECT, REGULARISES, TEACHES, UNDECIDED
from assay.statistics.bootstrap import Interval

from .evidence import NONE, Gain, Room
from .published import OWN

ERROR = 0.05  # chance of a wrong verdict among the methods of a table, for each of the two questions
FURTHER = "no shuffled control"  # of the student that the heads were found with: no verdict can be about it


@dataclass(frozen=True)
class Taught:
    """One method against no explanation, and against its own shares shuffled over the tokens."""

    verdict: str
    over_none: Interval
    over_shuffled: Interval | None
    detectable: float  # the smallest gain over none that would have been found four times in five


def taught(room: Room) -> dict[str, Taught]:
    """By method; controls are not judged."""
    judged = [m for m in room.outputs if f"shuffled {m}" in room.outputs]
    confidence = 1 - ERROR / max(len(judged), 1)
    shown = [*judged, *(m for m in room.outputs if m == OWN)]
    return {method: _taught(room, method, confidence) for method in shown}


def _taught(room: Room, method: str, confidence: float) -> Taught:
    none, shuffled = room.gain(method, NONE), room.gain(method, f"shuffled {method}")
    assert none is not None
    over_none = none.interval(confidence)
    over_shuffled = None if shuffled is None else shuffled.interval(confidence)
    return Taught(_verdict(none, over_none, over_shuffled), over_none, over_shuffled, none.detectable(confidence))


def _verdict(none: Gain, over_none: Interval, over_shuffled: Interval | None) -> str:
    if over_shuffled is None:
        return FURTHER
    if none.students < FEWEST:
        return UNDECIDED
    if over_none.high < 0:
        return HURTS
    if over_none.low > 0:
        return TEACHES if over_shuffled.low > 0 else REGULARISES
    return NO_EFFECT
