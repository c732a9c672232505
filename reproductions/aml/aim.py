"""Our aim: a fitted explainer is in the best group among methods that cost up to ten times its passes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from assay.evaluation import METRICS
from assay.statistics.bootstrap import Interval
from assay.statistics.quantities import Quantity
from assay.statistics.verdict import Standing, compare

from .claims import CELLS, CHEAP, FULL, LANGUAGE
from .evidence import CONTROL, Cell, Evidence

PLACES: tuple[Cell, ...] = (*CELLS, ("sst", "roberta"), ("sst", "distilbert"), LANGUAGE)
DEFAULT, PUBLISHED = "logistic", "paml"  # explainers: of Assay, and of the paper
JUDGED = (  # with the metric that they were fitted for first
    (DEFAULT, "comprehensiveness"),
    (DEFAULT, "sufficiency"),
    (FULL, "comprehensiveness"),
    (FULL, "sufficiency"),
    (PUBLISHED, "comprehensiveness"),
    ("paml_sufficiency", "sufficiency"),
)


@dataclass(frozen=True)
class Aim:
    """One explainer against the methods that cost up to ten times its passes."""

    cell: Cell
    explainer: str
    metric: str
    own: Interval
    rival: str  # the best of the others
    other: Interval
    gain: Interval  # over the rival; positive is better
    rivals: int
    reached: Literal["met", "open", "missed"]
    detectable: float | None  # difference that so many texts detect with 80 % power


def aims(e: Evidence) -> Iterator[Aim]:
    """What was run, cell by cell."""
    for cell in PLACES:
        for explainer, metric in JUDGED:
            if (found := aim(e, cell, explainer, metric)) is not None:
                yield found


def aim(e: Evidence, cell: Cell, explainer: str, metric: str) -> Aim | None:
    """None where the explainer or all that it is compared with was not run."""
    rivals = e.within(cell, CHEAP, explainer) or []
    columns = e.columns(cell, metric, [explainer, *rivals, CONTROL])
    others = {m: column for m, column in columns.items() if m not in (explainer, CONTROL)}
    if explainer not in columns or not others:
        return None
    better = METRICS.make(metric).facts.better
    found = compare(columns, better, control=CONTROL if CONTROL in columns else None)
    rival = next(s.method for s in found.standings if s.method in others)
    sign = 1 if better == "higher" else -1
    gain = Quantity(sign * (columns[explainer] - columns[rival])).interval(0.95)
    own, other = (Interval(s.value, s.low, s.high, s.n) for s in (found[explainer], found[rival]))
    return Aim(
        cell,
        explainer,
        metric,
        own,
        rival,
        other,
        gain,
        len(others),
        _reached(found[explainer], gain),
        found.detectable,
    )


def _reached(standing: Standing, gain: Interval) -> Literal["met", "open", "missed"]:
    """Few texts leave almost anything in the best group, so it alone does not count."""
    if not standing.best_group or standing.beats_random is False:
        return "missed"
    return "open" if gain.high < 0 else "met"
