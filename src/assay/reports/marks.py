"""What a method's standing means, as a sign with words: read by people who see no colour, and by machines."""

from __future__ import annotations

import math
from dataclasses import dataclass

from assay.statistics.verdict import Comparison, Standing


@dataclass(frozen=True)
class Mark:
    sign: str
    words: str
    kind: str  # the class in CSS, and the colour in a terminal

    @property
    def html(self) -> str:
        return f'<span class="mark {self.kind}"><span aria-hidden="true">{self.sign}</span> {self.words}</span>'


def mark(standing: Standing, comparison: Comparison) -> Mark:
    """Against the best and against the control; "random" is the control whatever its parameters."""
    if standing.method == comparison.control:
        return Mark("–", "control", "none")
    if standing.worse_than_random:
        return Mark("▼", "worse than random", "bad")
    if standing.best_group:
        if standing.beats_random is False:
            return Mark("☆", "tied: neither behind the best nor better than random", "open")
        return Mark("★", "best group", "best")
    if standing.beats_random is None:
        return Mark("·", "behind the best", "none")
    return Mark("✓", "beats random", "good") if standing.beats_random else Mark("○", "no better than random", "none")


def legend(*, control: bool) -> list[Mark]:
    """All signs in full words; without a control nothing can be said about random."""
    if not control:
        return [
            Mark("★", "best group: cannot be told from the best", "best"),
            Mark("·", "behind the best", "none"),
        ]
    return [
        Mark("★", "best group: cannot be told from the best, and beats random", "best"),
        Mark("✓", "beats random, behind the best", "good"),
        Mark("☆", "tied: can be told neither from the best nor from random", "open"),
        Mark("○", "no better than random", "none"),
        Mark("▼", "worse than random", "bad"),
    ]


def arrow(better: str) -> str:
    return "↑" if better == "higher" else "↓"


def figures(value: float, low: float, high: float) -> tuple[str, str]:
    """The value and its interval, with the decimals that the interval's width deserves."""
    width = high - low
    if not width > 0:
        return f"{value:.3g}", "interval unknown" if math.isnan(width) else "no spread"
    digits = min(6, max(0, 1 - math.floor(math.log10(width))))
    return f"{value:.{digits}f}", f"[{low:.{digits}f}, {high:.{digits}f}]"
