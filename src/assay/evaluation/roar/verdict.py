"""Is a measure faithful? Its area with intervals over seeds and test examples, the paper's rule, and class leakage."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from scipy.stats import t as student

from assay.core.errors import InputError
from assay.core.rng import generator
from assay.evaluation.roar.area import area
from assay.evaluation.roar.curves import Predicted, Score, curves, draws
from assay.statistics.bootstrap import Interval, interval

FAITHFUL, NOT, OPEN = "faithful", "not faithful", "inconclusive"
ENOUGH = 5  # seeds
COVERAGE = (
    "a BCa interval from five seeds covers only about 84 % where it says 95 %; the t interval beside it assumes normal "
    "areas; the verdict is from seeds and test examples drawn together"
)


@dataclass(frozen=True)
class Leak:
    """The most significant rise of a curve: masks that were chosen by the gold label may give it away."""

    start: float
    end: float
    rise: float
    p: float  # of all pairs of points, Bonferroni


@dataclass(frozen=True)
class Faithfulness:
    """A measure's area with three intervals, and what follows."""

    value: float
    bca: Interval  # over seeds
    t: Interval  # over seeds
    both: Interval  # over seeds and test examples: the verdict's
    seeds: tuple[float, ...]
    verdict: str
    leak: Leak | None
    curve: tuple[float, ...]  # (I,) mean over seeds
    notes: tuple[str, ...]
    drawn: tuple[float, ...] = field(default=(), repr=False)  # (R,) mean areas of drawn seeds on drawn examples

    def to_dict(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if name != "drawn"}


def judge(
    ratios: list[float],
    predicted: Predicted,
    random: Predicted,
    gold: NDArray[np.int64],
    *,
    recursive: bool,
    score: Score = "macro_f1",
    clip: bool = False,
    resamples: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Faithfulness:
    """Area per seed (a measure's seed s against random's seed s), then its mean.

    Below random significantly: faithful, to a degree. Not below: not faithful, but of ROAR without recursion
    inconclusive, because redundant words stand in for each other there.
    """
    if predicted.shape != random.shape or predicted.shape[1:] != (len(ratios), len(gold)):
        raise InputError(
            f"predictions of {predicted.shape} and {random.shape} for {len(ratios)} ratios; they must agree"
        )
    own, base = (curves(p, gold, score)[0] for p in (predicted, random))  # (S,I)
    found = np.asarray(area(ratios, own, base, clip=clip))  # (S,)
    drawn = draws(len(gold), resamples, seed)
    own_drawn, base_drawn = (curves(p, gold, score, drawn) for p in (predicted, random))  # (R,S,I)
    leak = leakage(ratios, (own, own_drawn.mean(1)), (base, base_drawn.mean(1)), confidence)
    if not np.isfinite(found).all():
        return _nothing(found, own, leak)
    areas = np.asarray(area(ratios, own_drawn, base_drawn, clip=clip))  # (R,S)
    chosen = generator("roar seeds", seed).integers(0, areas.shape[1], areas.shape)
    means = np.take_along_axis(areas, chosen, 1).mean(1)  # (R,)
    both = _percentiles(means, float(found.mean()), len(found), confidence)
    verdict = FAITHFUL if both.low > 0 else NOT if recursive and np.isfinite(both.low) else OPEN
    bca = interval(found, confidence=confidence, seed=seed)
    notes = _notes(found, both, leak)
    t, seeds, curve = _t(found, confidence), tuple(found.tolist()), tuple(own.mean(0).tolist())
    return Faithfulness(both.value, bca, t, both, seeds, verdict, leak, curve, notes, tuple(means.tolist()))


def difference(a: Faithfulness, b: Faithfulness, confidence: float = 0.95) -> Interval:
    """How much higher the area of a is than that of b, of the same trainings tested on the same examples.

    Both were judged on the same draws, so that what they share (the baseline, easy texts, a lucky seed) cancels: the
    interval is narrower than two that must not meet. NaN bounds where their trainings or draws are not the same number.
    """
    value = a.value - b.value
    if len(a.seeds) != len(b.seeds) or len(a.drawn) != len(b.drawn) or not a.drawn:
        return Interval(value, np.nan, np.nan, 0)
    return _percentiles(np.subtract(a.drawn, b.drawn), value, len(a.seeds), confidence)


Drawn = tuple[NDArray[np.float64], NDArray[np.float64]]  # curves of the seeds (S,I); resamples of their mean (R,I)


def leakage(ratios: list[float], own: Drawn, random: Drawn, confidence: float = 0.95) -> Leak | None:
    """The most significant rise of a method's mean curve between any two ratios, if there is one; resamples of texts.

    z = rise / sqrt(variance over texts + that over trainings), one-sided, times the number of pairs. The rise must be
    one beside random's too, which shows what retraining alone does; the end, where all is masked, tells no label.
    Weakness: a single seed has no variance over trainings.
    """
    first, second = np.triu_indices(len(ratios) - 1, 1)
    rises, texts, noises = zip(*(_rises(part, first, second) for part in (own, random)), strict=True)
    alone = _above_zero(rises[0], texts[0].var(0, ddof=1) + noises[0])
    beside = _above_zero(rises[0] - rises[1], (texts[0] - texts[1]).var(0, ddof=1) + noises[0] + noises[1])
    p = np.maximum(alone, beside) * len(first)
    if not len(first) or p.min() > 1 - confidence:
        return None
    best = int(p.argmin())
    return Leak(ratios[first[best]], ratios[second[best]], float(rises[0][best]), float(p[best]))


def _rises(part: Drawn, first: NDArray[np.intp], second: NDArray[np.intp]) -> tuple[NDArray[np.float64], ...]:
    """(P,) rises of the mean curve between pairs of points, (R,P) those of its resamples, (P,) variance by trainings.

    A few seeds tell little of the variance at one point and much of that at all together: the larger of the two, so
    that one lucky training is no rise.
    """
    curves, drawn = part
    seeds = len(curves)
    each = curves.var(0, ddof=1) if seeds > 1 else np.zeros(curves.shape[1])
    each = np.maximum(each, each[:-1].mean()) / seeds
    return (
        curves.mean(0)[second] - curves.mean(0)[first],
        drawn[:, second] - drawn[:, first],
        each[first] + each[second],
    )


def _above_zero(value: NDArray[np.float64], variance: NDArray[np.float64]) -> NDArray[np.float64]:
    """(P,) one-sided p."""
    z = np.divide(value, np.sqrt(variance), out=np.where(value > 0, np.inf, -np.inf), where=variance > 0)
    p: NDArray[np.float64] = norm.sf(z)
    return p


def _percentiles(means: NDArray[np.float64], value: float, n: int, confidence: float) -> Interval:
    """Of a statistic's resamples (R,); NaN if many of them have none."""
    known = np.isfinite(means)
    if known.mean() < confidence:
        return Interval(value, np.nan, np.nan, n)
    low, high = np.quantile(means[known], [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(value, float(low), float(high), n)


def _t(values: NDArray[np.float64], confidence: float) -> Interval:
    n, mean = len(values), float(values.mean())
    if n == 1:
        return Interval(mean, np.nan, np.nan, 1)
    half = float(student.ppf((1 + confidence) / 2, n - 1) * values.std(ddof=1) / np.sqrt(n))
    return Interval(mean, mean - half, mean + half, n)


def _notes(found: NDArray[np.float64], both: Interval, leak: Leak | None) -> tuple[str, ...]:
    notes = [COVERAGE] if len(found) > 1 else []
    if len(found) < ENOUGH:
        notes.append(f"{len(found)} seeds; the paper has {ENOUGH}, and fewer say little about other trainings")
    if both.high < 0:
        notes.append("significantly worse than random")
    return (*notes, *_leak_note(leak))


def _leak_note(leak: Leak | None) -> tuple[str, ...]:
    if leak is None:
        return ()
    return (
        f"class leakage: the curve rises by {leak.rise:.3f} from {leak.start:g} to {leak.end:g} "
        f"(p = {leak.p:.2g}); masks chosen by the gold label may give it away, so that the measure looks less faithful",
    )


def _nothing(found: NDArray[np.float64], own: NDArray[np.float64], leak: Leak | None) -> Faithfulness:
    none = Interval(np.nan, np.nan, np.nan, len(found))
    why = "masking everything costs the random baseline nothing, so there is no area to compare with"
    curve, notes = tuple(own.mean(0).tolist()), (why, *_leak_note(leak))
    return Faithfulness(np.nan, none, none, none, tuple(found.tolist()), OPEN, leak, curve, notes)
