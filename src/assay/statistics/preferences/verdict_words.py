"""What a study of preferences shows, in words."""

from __future__ import annotations

import math
from collections.abc import Sequence

from assay.statistics.preferences.contrasts import Contrast
from assay.statistics.preferences.crossed import MOST
from assay.statistics.sentences import listed

NOBODY_ELSE = "one participant says nothing about others"


def preference_verdict(contrasts: Sequence[Contrast], participants: int) -> list[str]:
    """Who prefers what to what, and what cannot be shown."""
    if not contrasts:
        return ["No two methods were judged together."]
    people = [c for c in contrasts if c.shown == "people"]
    own = [c for c in contrasts if c.shown == "participants"]
    sentences = [f"People prefer {better} to {worse}." for better, worse in _chains(people)]
    who = "The one participant prefers" if participants == 1 else f"These {participants} participants prefer"
    sentences += [f"{who} {better} to {worse}." for better, worse in _chains(own)]
    if own:
        which = "this is" if len(own) == 1 else "these preferences are"
        sentences.append(f"That {which} shared by other people cannot be shown: {_needed(own, participants)}")
    open_pairs = [c for c in contrasts if c.shown is None]
    if not people and not own:
        sentences.append(f"No preference can be shown: {_needed(contrasts[:1], participants)}")
    elif open_pairs:
        pairs = listed([f"{c.preferred} and {c.other}" for c in open_pairs])
        sentences.append(f"No preference can be shown between {pairs}.")
    return sentences


def _chains(contrasts: Sequence[Contrast]) -> list[tuple[str, str]]:
    """Each preferred method with all that it is preferred to; the method with the most comes first."""
    worse: dict[str, list[str]] = {}
    for contrast in contrasts:
        worse.setdefault(contrast.preferred, []).append(contrast.other)
    return [(name, listed(others)) for name, others in sorted(worse.items(), key=lambda pair: -len(pair[1]))]


def _needed(contrasts: Sequence[Contrast], participants: int) -> str:
    """How many participants would be needed for differences as large as those seen."""
    largest = contrasts[0]
    if largest.difference == 0:
        return "no method was ranked above another more often than below it."
    size = (
        f"a difference as large as that between {largest.preferred} and {largest.other} "
        f"({percent(largest.wins)} against {percent(largest.losses)})"
    )
    if participants < 2:
        return f"{NOBODY_ELSE}."
    numbers = [c.participants_needed for c in contrasts]
    if numbers[0] is None:
        return f"to show {size}, more than {MOST:,} participants or more examples would be needed."
    return f"to show {size}, about {max(numbers[0], participants + 1)} participants would be needed."


def with_bounds(value: float, low: float, high: float, form: str = ".2f") -> str:
    """A value with its interval, where it has one."""
    bounds = "" if math.isnan(low) or math.isnan(high) else f" [{low:{form}}, {high:{form}}]"
    return f"{value:{form}}{bounds}"


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"
