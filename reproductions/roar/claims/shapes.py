"""Claims about the shape of curves: where they drop, where they rise, and the synthetic problem."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.stats import norm

from assay.evaluation.roar.curves import curves as scores_of
from assay.evaluation.roar.leak import Leak
from assay.statistics.claims import Criterion, Exact, Quantity, Statement
from assay.statistics.estimates import Estimate, Largest

from ..evidence import FEW, LSTM, RETRAINED, Evidence
from .base import ABOVE, MARGIN

EARLY = 0.2  # of the words masked
TENDS = Criterion(low=0.5)
Drops = Callable[[Evidence, tuple[str, str], str], np.ndarray]


def early_drop(e: Evidence) -> list[Statement]:
    """For more than half of the faithful measures the largest drop of the task's score in one step starts below 20 %
    masked (with steps of 20 %: at 0)."""
    return [_early(e, "most largest drops start below 20 %", lambda *at: _by_score(*at))]


def early_drop_four_ways(e: Evidence) -> list[Statement]:
    """By the task's score and by accuracy (macro-F1 falls to a third when a model predicts one class), each without and
    with the last step, which all measures share."""
    ways: dict[str, Drops] = {
        "by the score": _by_score,
        "by the score, without the last step": lambda *at: _by_score(*at)[:-1],
        "by accuracy": _by_accuracy,
        "by accuracy, without the last step": lambda *at: _by_accuracy(*at)[:-1],
    }
    return [_early(e, f"most largest drops start below 20 %, {way}", drops) for way, drops in ways.items()]


def _early(e: Evidence, text: str, drops: Drops) -> Statement:
    if len({data for data, _ in e.recursive}) < FEW:
        return Statement(text, TENDS)
    starts = [
        e.curves[place, "recursive"].ratios[int(np.argmax(drops(e, place, m)))]
        for place, areas in e.recursive.items()
        for m, f in areas.items()
        if e.faithful(f)
    ]
    return Statement(text, TENDS, Quantity(np.array([float(start < EARLY) for start in starts])) if starts else None)


def _by_score(e: Evidence, place: tuple[str, str], measure: str) -> np.ndarray:
    return -np.diff(e.areas[place, "recursive"][measure].curve)


def _by_accuracy(e: Evidence, place: tuple[str, str], measure: str) -> np.ndarray:
    part = e.curves[place, "recursive"]
    return -np.diff(scores_of(part.predicted[measure], part.gold, "accuracy")[0].mean(0))


def drops_here(e: Evidence) -> str:
    quantity = early_drop(e)[0].quantity
    if not isinstance(quantity, Quantity):
        return ""
    accuracy = early_drop_four_ways(e)[3].quantity
    assert isinstance(accuracy, Quantity)
    both = [f"{int(q.values.sum())} of {len(q.values)}" for q in (quantity, accuracy)]
    return f"{both[0]} measures; by accuracy and without the last step {both[1]}"


# --- leaks -----------------------------------------------------------------------------------------------------------


def leakage(e: Evidence) -> list[Statement]:
    """With retraining the accuracy of some measure rises where that of random does not."""
    return [_rises(e, 1)]


def leakage_of_three(e: Evidence) -> list[Statement]:
    """Only measures with three or more seeds count, because fewer say little about the variance between trainings."""
    return [_rises(e, FEW)]


def _rises(e: Evidence, seeds: int) -> Statement:
    parts = [f for (_, study), areas in e.areas.items() if study in RETRAINED for f in areas.values()]
    enough = [f for f in parts if len(f.seeds) >= seeds]
    leaks = [rise(f.leak) for f in enough if f.leak is not None]
    text = f"the accuracy of some measure{f' with {seeds} or more seeds' * (seeds > 1)} rises"
    ran = all(e.of(data, LSTM) for data in ("SST", "bAbI-1"))
    quantity = Largest(leaks, among=len(enough)) if leaks else _none(len(enough)) if ran else None
    return Statement(text, ABOVE, quantity)


def rise(leak: Leak) -> Estimate:
    """A rise with the interval that its p, corrected for all pairs of points and seeds, implies."""
    error = leak.rise / max(norm.isf(leak.p / 2), 1e-9)
    return Estimate(leak.rise, error**2, leak.of)


def _none(curves: int) -> Estimate:
    """No curve rises significantly, which does not show that none rises."""
    return Estimate(0.0, np.inf, curves)


def leaks_here(e: Evidence) -> str:
    shown = [
        f"{place[0]} {m} +{100 * f.leak.rise:.0f} ({f.leak.seeds} of {f.leak.of} seeds)"
        for (place, study), areas in e.areas.items()
        for m, f in areas.items()
        if study in RETRAINED and f.leak is not None
    ]
    return "; ".join(shown)


# --- the synthetic problem -------------------------------------------------------------------------------------------


def synthetic(e: Evidence) -> list[Statement]:
    """The curve of Recursive ROAR is that of the truth, within a point of accuracy; the curve of ROAR is not."""
    recursive, roar = _distances(e)
    return [
        Statement("Recursive ROAR differs from the truth by at most 1 point", Criterion(high=0.01), Exact(recursive)),
        Statement("ROAR differs from the truth by more", Criterion.above(MARGIN), Exact(roar)),
    ]


def _distances(e: Evidence) -> list[float]:
    truth = np.array(e.synthetic["truth"])
    return [float(np.abs(truth - e.synthetic[name]).max()) for name in ("recursive", "roar")]


def synthetic_here(e: Evidence) -> str:
    recursive, roar = _distances(e)
    return f"largest distance from the truth {100 * recursive:.1f} points with recursion, {100 * roar:.1f} without"
