"""ROAR verdicts: whether a method is faithful, from its area and intervals over seeds and test examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from assay.core.errors import InputError
from assay.core.rng import generator
from assay.evaluation.roar.area import area
from assay.evaluation.roar.curves import Predicted, Score, curves, draws
from assay.evaluation.roar.leak import Drawn, Leak, leakage, low_point
from assay.statistics.bootstrap import Interval, interval

FAITHFUL, NOT_FAITHFUL, INCONCLUSIVE = "faithful", "not faithful", "inconclusive"
ENOUGH = 5  # seeds, as in the paper
COVERAGE = (
    "With five seeds, a 95 % BCa interval covers the true value in only about 84 % of cases; the t interval assumes "
    "normally distributed areas; the verdict uses an interval over seeds and test examples, which estimates the "
    "variation between trainings no better than BCa"
)
CHANCE = "the loss of the random baseline when everything is masked is not significantly different from 0"
UNLEARNED = (
    "the unmasked models are not significantly better than models that see only masks; train longer, on more examples "
    "or with another recipe"
)
SAME = (
    "its models and those of the random baseline predict the same at every step; either no word was masked (texts too "
    "short for the steps), or the models ignore their input"
)


@dataclass(frozen=True)
class Faithfulness:
    """The area of a method with three intervals, and the verdict."""

    value: float
    bca: Interval  # over seeds
    t: Interval  # over seeds
    both: Interval  # over seeds and test examples; the verdict is based on it
    seeds: tuple[float, ...]  # area of each seed
    verdict: str
    leak: Leak | None
    curve: tuple[float, ...]  # (I,) mean over seeds
    notes: tuple[str, ...]
    drawn: tuple[float, ...] = field(default=(), repr=False)  # (R,) mean areas of the bootstrap resamples
    low: Leak | None = None  # a rise after a low point of one training: a failed training or class leakage
    trainings: tuple[int, ...] = field(default=(), repr=False)  # the seeds themselves

    def to_dict(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if name not in ("drawn", "trainings")}


def judge(
    ratios: list[float],
    predicted: Predicted,
    random: Predicted,
    gold: NDArray[np.int64],
    *,
    recursive: bool,
    score: Score = "macro_f1",
    clip: bool = False,
    labelled: bool = True,
    names: Sequence[str] | None = None,
    trainings: Sequence[int] = (),
    resamples: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Faithfulness:
    """Judge a method by its mean area over seeds, each against the random baseline of the same seed.

    Significantly below random: faithful, to a degree. Otherwise not faithful, or inconclusive for ROAR without
    recursion, where redundant words replace each other. labelled: whether masks may depend on the gold label; if so,
    class leakage is tested for. names: labels of the ratios in notes. trainings: the seeds, so that `difference` can
    pair two methods.
    """
    if predicted.shape != random.shape or predicted.shape[1:] != (len(ratios), len(gold)):
        raise InputError(
            f"predictions of shape {predicted.shape} and {random.shape} for {len(ratios)} ratios and {len(gold)} "
            "examples: give both as (seeds, ratios, examples)"
        )
    own, base = (curves(p, gold, score)[0] for p in (predicted, random))  # (S,I)
    areas = np.asarray(area(ratios, own, base, clip=clip))  # (S,)
    weights = draws(len(gold), resamples, seed)
    own_drawn, base_drawn = (curves(p, gold, score, weights) for p in (predicted, random))  # (R,S,I)
    labels = names or [f"{100 * ratio:g} %" for ratio in ratios]
    accuracies = _accuracies(predicted, gold, weights), _accuracies(random, gold, weights)
    leak = leakage(ratios, *accuracies, confidence) if labelled else None
    low = low_point(ratios, *accuracies, confidence) if leak is None else None
    warnings = (*_leak_note(leak, ratios, labels), *_low_note(low, ratios, labels, labelled=labelled))
    if not np.isfinite(areas).all():
        return _undefined(areas, own, leak, warnings)
    areas_drawn = np.asarray(area(ratios, own_drawn, base_drawn, clip=clip))  # (R,S)
    chosen = generator("roar seeds", seed).integers(0, areas_drawn.shape[1], areas_drawn.shape)
    means = np.take_along_axis(areas_drawn, chosen, 1).mean(1)  # (R,)
    learned = np.take_along_axis(own_drawn[..., 0] - own_drawn[..., -1], chosen, 1).mean(1)  # (R,)
    obstacle = _obstacle(predicted, random, float(np.quantile(learned, (1 - confidence) / 2)))
    both = _percentiles(np.where(obstacle is None, means, np.nan), float(areas.mean()), len(areas), confidence)
    verdict = FAITHFUL if both.low > 0 else NOT_FAITHFUL if recursive and np.isfinite(both.low) else INCONCLUSIVE
    bca = interval(areas, confidence=confidence, seed=seed)
    notes = (*_notes(areas, both, obstacle or CHANCE), *warnings)
    t, seeds, curve = _t(areas, confidence), tuple(areas.tolist()), tuple(own.mean(0).tolist())
    more = tuple(means.tolist()), low, tuple(trainings)
    return Faithfulness(both.value, bca, t, both, seeds, verdict, leak, curve, notes, *more)


def difference(a: Faithfulness, b: Faithfulness, confidence: float = 0.95) -> Interval:
    """The difference of the areas of a and b, with a paired interval: same trainings, same test examples.

    Both use the same resamples, so that what they share (the baseline, easy texts, the seed) cancels. Bounds are NaN
    where their trainings or resamples differ.
    """
    value = a.value - b.value
    same = len(a.seeds) == len(b.seeds) and a.trainings == b.trainings
    if not same or len(a.drawn) != len(b.drawn) or not a.drawn:
        return Interval(value, np.nan, np.nan, 0)
    return _percentiles(np.subtract(a.drawn, b.drawn), value, len(a.seeds), confidence)


def _percentiles(means: NDArray[np.float64], value: float, n: int, confidence: float) -> Interval:
    """The percentile interval of resamples (R,); NaN bounds if many of them are undefined."""
    defined = np.isfinite(means)
    if defined.mean() < confidence:
        return Interval(value, np.nan, np.nan, n)
    low, high = np.quantile(means[defined], [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(value, float(low), float(high), n)


def _t(values: NDArray[np.float64], confidence: float) -> Interval:
    n, mean = len(values), float(values.mean())
    if n == 1:
        return Interval(mean, np.nan, np.nan, 1)
    half = float(student.ppf((1 + confidence) / 2, n - 1) * values.std(ddof=1) / np.sqrt(n))
    return Interval(mean, mean - half, mean + half, n)


def _notes(areas: NDArray[np.float64], both: Interval, obstacle: str) -> tuple[str, ...]:
    notes = [COVERAGE] if len(areas) > 1 else []
    if len(areas) < ENOUGH:
        seeds = f"{len(areas)} seed{'s' * (len(areas) != 1)}"
        notes.append(f"{seeds}; the paper uses {ENOUGH}, fewer say little about other trainings")
    if both.high < 0:
        notes.append("significantly worse than random")
    if np.isnan(both.low):
        notes.append(f"inconclusive: {obstacle}")
    return tuple(notes)


def _accuracies(predicted: Predicted, gold: NDArray[np.int64], weights: NDArray[np.float64]) -> Drawn:
    return curves(predicted, gold, "accuracy")[0], curves(predicted, gold, "accuracy", weights)


def _leak_note(leak: Leak | None, ratios: list[float], names: Sequence[str]) -> tuple[str, ...]:
    if leak is None:
        return ()
    start, end = _labels(leak, ratios, names)
    trainings = "one training" if leak.of == 1 else f"{leak.seeds} of {leak.of} seeds"
    return (
        f"class leakage ({trainings}): accuracy rises by {100 * leak.rise:.1f} points from {start} to {end} masked "
        f"(p = {leak.p:.2g}); masks chosen by the gold label may reveal it, which makes the method look less faithful",
    )


def _low_note(low: Leak | None, ratios: list[float], names: Sequence[str], *, labelled: bool) -> tuple[str, ...]:
    """A low point of one training need not be a leak, but affects the area either way."""
    if low is None:
        return ()
    start, end = _labels(low, ratios, names)
    failed = "this training may have failed, which makes the method look more faithful"
    leaked = (
        "either this training failed, or later masks reveal the gold label they were chosen by; use more seeds or the "
        "predicted label to find out"
    )
    return (
        f"a low point: the accuracy of one training is {100 * low.rise:.1f} points lower with {start} masked "
        f"than with {end} (p = {low.p:.2g}); {leaked if labelled else failed}",
    )


def _labels(leak: Leak, ratios: list[float], names: Sequence[str]) -> tuple[str, str]:
    labels = dict(zip(ratios[:-1], names, strict=False))  # no rise ends at the last point, which may repeat a ratio
    return labels[leak.start], labels[leak.end]


def _obstacle(predicted: Predicted, random: Predicted, learned: float) -> str | None:
    """Why no verdict is possible, or None; learned: lower bound of how much the unmasked models have learnt."""
    return SAME if np.array_equal(predicted, random) else UNLEARNED if learned <= 0 else None


def _undefined(
    areas: NDArray[np.float64], own: NDArray[np.float64], leak: Leak | None, warnings: tuple[str, ...]
) -> Faithfulness:
    """The result where some seeds have no area."""
    none, unknown = Interval(np.nan, np.nan, np.nan, len(areas)), int(np.isnan(areas).sum())
    seeds = "" if unknown == len(areas) else f" in {unknown} of {len(areas)} seeds"
    reason = f"the random baseline loses nothing when everything is masked{seeds}, so the area is undefined"
    curve, notes = tuple(own.mean(0).tolist()), (reason, *warnings)
    return Faithfulness(np.nan, none, none, none, tuple(areas.tolist()), INCONCLUSIVE, leak, curve, notes)
