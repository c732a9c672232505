"""Class leakage: masks chosen by the gold label can reveal it, so that accuracy rises with more masking."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

Reals = NDArray[np.float64]
Places = NDArray[np.intp]
Drawn = tuple[Reals, Reals]  # accuracies of the seeds (S,I), and on resamples of the texts (R,S,I)
Rises = tuple[
    tuple[Places, Places], Reals, Reals
]  # starts and ends of a curve's rises (P,), their heights and p-values


@dataclass(frozen=True)
class Leak:
    """The most significant rise of a method's accuracy."""

    start: float
    end: float
    rise: float
    p: float  # Bonferroni-corrected over pairs of points, seeds and their mean
    seeds: int  # number of seeds with a significant rise
    of: int  # all seeds


def leakage(ratios: list[float], own: Drawn, random: Drawn, confidence: float = 0.95) -> Leak | None:
    """The most significant rise between any two ratios of a seed's curve or of the mean curve; None if not significant.

    Seeds leak at different steps, so that their mean need not rise. In the curve of one seed, a rise starts from the
    higher of a point and its predecessor, because a single low point may be a failed training. The rise must also be
    significant relative to random's curve, which shows the effect of retraining alone. The last point, with everything
    masked, cannot leak. One-sided test of z = rise / sqrt(variance over texts + variance of trainings), with
    Bonferroni correction over curves and pairs. The variance of trainings is random's, which no leak inflates; for the
    mean, the method's own if larger. Uses accuracy: the macro-F1 of an untrained model depends on how often it predicts
    the same class.
    """
    seeds, noise = len(own[0]), _noise(random[0])
    parts = _parts(own, random)
    if seeds > 1:
        means = [(curves.mean(0), drawn.mean(1)) for curves, drawn in (own, random)]
        parts.append((means[0], means[1], (max(noise, _noise(own[0])) / seeds, noise / seeds)))
    return _steepest(ratios, [_rises(*part, alone=s < seeds) for s, part in enumerate(parts)], seeds, confidence)


def low_point(ratios: list[float], own: Drawn, random: Drawn, confidence: float = 0.95) -> Leak | None:
    """The most significant rise of a seed's curve, including those that start at a single low point.

    Such a rise is a failed training, or a leak right after a step at which the model reads nothing. The variance of
    trainings is random's, or that of the method's other seeds if larger: a method's masks leave less to learn from, so
    that trainings vary more.
    """
    base, rises = _noise(random[0]), []
    for s, (curve, baseline, _) in enumerate(_parts(own, random)):
        others = np.delete(own[0], s, 0)
        noise = max(base, _noise(others)) if len(others) else base
        rises.append(_rises(curve, baseline, (noise, base), alone=False))
    return _steepest(ratios, rises, len(rises), confidence)


def _parts(own: Drawn, random: Drawn) -> list[tuple[Drawn, Drawn, tuple[float, float]]]:
    """For each seed: its curve, random's curve, and the variance of a training in each."""
    noise = _noise(random[0])
    return [((own[0][s], own[1][:, s]), (random[0][s], random[1][:, s]), (noise, noise)) for s in range(len(own[0]))]


def _steepest(ratios: list[float], rises: list[Rises], seeds: int, confidence: float) -> Leak | None:
    """The most significant of all rises; the first `seeds` curves are those of single seeds."""
    if len(ratios) < 3:
        return None
    p = np.array([p_values for _, _, p_values in rises]) * len(rises) * len(rises[0][2])  # (curves, pairs)
    if p.min() > 1 - confidence:
        return None
    curve, pair = np.unravel_index(int(p.argmin()), p.shape)
    (start, end), rise, _ = rises[int(curve)]
    significant = int((p[:seeds].min(1) <= 1 - confidence).sum())
    return Leak(
        ratios[start[pair]], ratios[end[pair]], float(rise[pair]), min(1.0, float(p[curve, pair])), significant, seeds
    )


def _noise(curves: Reals) -> float:
    """Variance of a training's accuracy over seeds, averaged over all points but the shared last one.

    With one seed, from second differences of its curve, Var(a - 2b + c) = 6 Var, which overestimates where it bends.
    """
    if len(curves) > 1:
        return float(curves[:, :-1].var(0, ddof=1).mean())
    bends = np.diff(curves[0, :-1], 2)
    return float((bends**2).mean() / 6) if len(bends) else 0.0


def _rises(own: Drawn, random: Drawn, noises: tuple[float, float], *, alone: bool) -> Rises:
    """The rises of one curve (I,) with resamples (R,I): starts and ends (P,), heights and p-values."""
    curve = own[0]
    first, end = np.triu_indices(len(curve) - 1, 1)
    before = np.maximum(first - 1, 0) if alone else first
    start = np.where(curve[before] > curve[first], before, first)
    (rise, drawn), (base, base_drawn) = ((c[end] - c[start], d[:, end] - d[:, start]) for c, d in (own, random))
    p_own = _above_zero(rise, drawn.var(0, ddof=1) + 2 * noises[0])
    p_relative = _above_zero(rise - base, (drawn - base_drawn).var(0, ddof=1) + 2 * sum(noises))
    return (start, end), rise, np.maximum(p_own, p_relative)


def _above_zero(value: Reals, variance: Reals) -> Reals:
    """(P,) one-sided p."""
    z = np.divide(value, np.sqrt(variance), out=np.where(value > 0, np.inf, -np.inf), where=variance > 0)
    p: Reals = norm.sf(z)
    return p
