"""Symbols of verdicts, arrows, and numbers with intervals, for all tables."""

from __future__ import annotations

import math
from dataclasses import dataclass

from assay.statistics.verdict import Comparison, Standing


@dataclass(frozen=True)
class Symbol:
    """A sign with a label, so that no verdict depends on colour."""

    sign: str
    label: str
    kind: str  # the CSS class, and the key of the terminal's colours
    meaning: str = ""  # what a legend adds to the label

    @property
    def legend(self) -> str:
        return f"{self.label}{self.meaning}"


CONTROL = Symbol("–", "control", "none")
BEST = Symbol("★", "best group", "best", ": not clearly different from the best, and clearly better than random")
BETTER = Symbol("✓", "better than random", "good", ", but not in the best group")
ONLY_BETTER = Symbol("✓", "better than random", "good")
TIED = Symbol("☆", "tied", "open", ": not clearly different from the best or from random")
NO_BETTER = Symbol("○", "no better than random", "none")
WORSE = Symbol("▼", "worse than random", "bad")
BEST_WITHOUT_CONTROL = Symbol("★", "best group", "best", ": not clearly different from the best")
BEHIND_WITHOUT_CONTROL = Symbol("·", "worse than the best", "none")
ALONE = Symbol("·", "only method", "none")
UNRANKED = Symbol("·", "not ranked", "none", ": the model is no basis for a ranking")
ORDER = (
    BEST, BEST_WITHOUT_CONTROL, BETTER, ONLY_BETTER, TIED, NO_BETTER, WORSE, BEHIND_WITHOUT_CONTROL, UNRANKED, ALONE,
)  # fmt: skip


def symbol_of(standing: Standing, comparison: Comparison) -> Symbol:
    """How a method compares with the best method and with the control."""
    if standing.method == comparison.control:
        return CONTROL
    if comparison.unranked:
        return UNRANKED
    if len(comparison.methods) == 1:
        return _alone(standing)
    if comparison.control is None:
        return BEST_WITHOUT_CONTROL if standing.best_group else BEHIND_WITHOUT_CONTROL
    if standing.worse_than_random:
        return WORSE
    if standing.best_group:
        return BEST if standing.beats_random else TIED
    return BETTER if standing.beats_random else NO_BETTER


def _alone(standing: Standing) -> Symbol:
    """A single method is best at nothing: it can only be compared with the control."""
    if standing.beats_random is None:
        return ALONE
    return WORSE if standing.worse_than_random else ONLY_BETTER if standing.beats_random else NO_BETTER


def gain_of(standing: Standing, comparison: Comparison) -> str:
    """How much better than random, with a sign; empty for the control or without one."""
    gain = comparison.gain(standing.method)
    if gain is None:
        return ""
    digits = min(_decimals(comparison.margin), max(0, 1 - math.floor(math.log10(abs(gain) or 1))))
    return f"{gain:+.{digits}f}"


def legend(comparisons: list[Comparison]) -> list[Symbol]:
    """The symbols that occur, best first, without the control's."""
    used = {symbol_of(standing, comparison) for comparison in comparisons for standing in comparison.standings}
    return [symbol for symbol in ORDER if symbol in used]


def arrow(better: str) -> str:
    return "↑" if better == "higher" else "↓"


def format_interval(value: float, low: float, high: float, margin: float = 0.0) -> tuple[str, str]:
    """The value and its interval, with as many decimals as the width of the interval justifies.

    margin: the smallest difference that matters; decimals far below it are left out.
    """
    width = high - low
    if not width > 0:
        return f"{value:.3g}", "interval unknown" if math.isnan(width) else "no spread"
    digits = min(_decimals(margin), max(0, 1 - math.floor(math.log10(width))))
    value, low, high = (round(v, digits) + 0.0 for v in (value, low, high))  # + 0.0: no minus before zero
    return f"{value:.{digits}f}", f"[{low:.{digits}f}, {high:.{digits}f}]"


def _decimals(margin: float) -> int:
    """The most decimals to show: one more than the margin has."""
    return max(0, 1 - math.floor(math.log10(margin))) if margin > 0 else 6
