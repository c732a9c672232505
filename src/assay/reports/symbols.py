"""What a method's standing means, as a sign with words: read by people who see no colour, and by machines."""

from __future__ import annotations

import math
from dataclasses import dataclass

from assay.statistics.verdict import Comparison, Standing


@dataclass(frozen=True)
class Symbol:
    sign: str
    words: str
    kind: str  # the class in CSS, and the colour in a terminal

    @property
    def html(self) -> str:
        return f'<span class="mark {self.kind}"><span aria-hidden="true">{self.sign}</span> {self.words}</span>'


def mark(standing: Standing, comparison: Comparison) -> Symbol:
    """Against the best and against the control; "random" is the control whatever its parameters."""
    if standing.method == comparison.control:
        return Symbol("–", "control", "none")
    if standing.worse_than_random:
        return Symbol("▼", "worse than random", "bad")
    if standing.best_group:
        if standing.beats_random is False:
            return Symbol("☆", "tied: neither behind the best nor better than random", "open")
        return Symbol("★", "best group", "best")
    if standing.beats_random is None:
        return Symbol("·", "behind the best", "none")
    return (
        Symbol("✓", "beats random", "good") if standing.beats_random else Symbol("○", "no better than random", "none")
    )


def legend(*, control: bool) -> list[Symbol]:
    """All signs in full words; without a control nothing can be said about random."""
    if not control:
        return [
            Symbol("★", "best group: cannot be told from the best", "best"),
            Symbol("·", "behind the best", "none"),
        ]
    return [
        Symbol("★", "best group: cannot be told from the best, and beats random", "best"),
        Symbol("✓", "beats random, behind the best", "good"),
        Symbol("☆", "tied: can be told neither from the best nor from random", "open"),
        Symbol("○", "no better than random", "none"),
        Symbol("▼", "worse than random", "bad"),
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
