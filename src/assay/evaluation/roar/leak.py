"""Class leakage: masks that were chosen by the gold label may tell it, and then a curve rises with more masking."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

Reals = NDArray[np.float64]
Places = NDArray[np.intp]
Drawn = tuple[Reals, Reals]  # accuracies of the seeds (S,I), and on resamples of the texts (R,S,I)
Rises = tuple[tuple[Places, Places], Reals, Reals]  # where the rises of a curve start and end (P,), their height and p


@dataclass(frozen=True)
class Leak:
    """The most significant rise of a method's accuracy."""

    start: float
    end: float
    rise: float
    p: float  # of all pairs of points, seeds and their mean, Bonferroni
    seeds: int  # how many seeds rise on their own
    of: int


def leakage(ratios: list[float], own: Drawn, random: Drawn, confidence: float = 0.95) -> Leak | None:
    """The most significant rise between any two ratios of a seed's curve or of their mean, if there is one.

    Seeds run into a leak at different steps, so that their mean need not rise. In one seed's curve a rise starts from
    the higher of a point and the one before it, because a low point alone may be a training that failed. It must be one
    beside random's too, which shows what retraining alone does; the end, where all is masked, tells no label.
    z = rise / sqrt(variance over texts + that of the trainings), one-sided, times the number of curves and pairs. The
    variance of trainings is random's, which no leak inflates, and for the mean the method's own if that is larger.
    Accuracies, not macro-F1: of a model that knows nothing the latter depends on how often it says the same.
    """
    seeds, noise = len(own[0]), _noise(random[0])
    parts = _parts(own, random)
    if seeds > 1:
        means = [(curves.mean(0), drawn.mean(1)) for curves, drawn in (own, random)]
        parts.append((means[0], means[1], (max(noise, _noise(own[0])) / seeds, noise / seeds)))
    return _steepest(ratios, [_rises(*part, alone=s < seeds) for s, part in enumerate(parts)], seeds, confidence)


def low_point(ratios: list[float], own: Drawn, random: Drawn, confidence: float = 0.95) -> Leak | None:
    """The most significant rise of a seed's curve, even if it starts at one low point: a training that failed, or a
    leak at the step after the first that reads nothing. How much trainings vary is random's, or what the method's other
    seeds show if that is more: words masked by a method leave less to learn from, and luck decides more."""
    base, found = _noise(random[0]), []
    for s, (curve, beside, _) in enumerate(_parts(own, random)):
        others = np.delete(own[0], s, 0)
        noise = max(base, _noise(others)) if len(others) else base
        found.append(_rises(curve, beside, (noise, base), alone=False))
    return _steepest(ratios, found, len(found), confidence)


def _parts(own: Drawn, random: Drawn) -> list[tuple[Drawn, Drawn, tuple[float, float]]]:
    """Per seed its curve, random's, and the variance of a training in each."""
    noise = _noise(random[0])
    return [((own[0][s], own[1][:, s]), (random[0][s], random[1][:, s]), (noise, noise)) for s in range(len(own[0]))]


def _steepest(ratios: list[float], found: list[Rises], seeds: int, confidence: float) -> Leak | None:
    """The most significant of all rises, the first `seeds` curves being those of single seeds."""
    if len(ratios) < 3:
        return None
    p = np.array([chance for _, _, chance in found]) * len(found) * len(found[0][2])  # (curves, pairs)
    if p.min() > 1 - confidence:
        return None
    curve, pair = np.unravel_index(int(p.argmin()), p.shape)
    (start, end), rise, _ = found[int(curve)]
    alone = int((p[:seeds].min(1) <= 1 - confidence).sum())
    return Leak(
        ratios[start[pair]], ratios[end[pair]], float(rise[pair]), min(1.0, float(p[curve, pair])), alone, seeds
    )


def _noise(curves: Reals) -> float:
    """Variance of a training's accuracy: over seeds, the mean of all points but the shared end.

    Of one seed: how uneven its curve is, Var(a - 2b + c) = 6 Var; too much rather than too little where it bends.
    """
    if len(curves) > 1:
        return float(curves[:, :-1].var(0, ddof=1).mean())
    bends = np.diff(curves[0, :-1], 2)
    return float((bends**2).mean() / 6) if len(bends) else 0.0


def _rises(own: Drawn, random: Drawn, noises: tuple[float, float], *, alone: bool) -> Rises:
    """Of one curve (I,) with its resamples (R,I): where its rises start and end (P,), their height and p."""
    curve = own[0]
    first, end = np.triu_indices(len(curve) - 1, 1)
    before = np.maximum(first - 1, 0) if alone else first
    start = np.where(curve[before] > curve[first], before, first)
    (rise, drawn), (base, base_drawn) = ((c[end] - c[start], d[:, end] - d[:, start]) for c, d in (own, random))
    itself = _above_zero(rise, drawn.var(0, ddof=1) + 2 * noises[0])
    beside = _above_zero(rise - base, (drawn - base_drawn).var(0, ddof=1) + 2 * sum(noises))
    return (start, end), rise, np.maximum(itself, beside)


def _above_zero(value: Reals, variance: Reals) -> Reals:
    """(P,) one-sided p."""
    z = np.divide(value, np.sqrt(variance), out=np.where(value > 0, np.inf, -np.inf), where=variance > 0)
    p: Reals = norm.sf(z)
    return p
