"""Is a measure faithful? Its area with intervals over seeds and test examples, and the paper's rule."""

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

FAITHFUL, NOT, OPEN = "faithful", "not faithful", "inconclusive"
ENOUGH = 5  # seeds
COVERAGE = (
    "A BCa interval from five seeds covers only about 84 % where it says 95 %; the t interval beside it assumes normal "
    "areas; the verdict is from seeds and test examples drawn together, which knows other trainings no better than BCa"
)
CHANCE = "masking everything costs the random baseline so little that it may be chance"
UNLEARNED = (
    "the unmasked models are not surely better than models that read nothing, and have nothing to lose; train longer, "
    "on more examples or with another recipe"
)
SAME = (
    "its models answer as random's do at every step; either no word that it chose was masked (texts too short for the "
    "steps), or they read none"
)


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
    low: Leak | None = None  # a rise from a low point of one training: it failed, or masks that know the label tell it
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
    """Area per seed (a measure's seed s against random's seed s), then its mean.

    Below random significantly: faithful, to a degree. Not below: not faithful, but of ROAR without recursion
    inconclusive, because redundant words stand in for each other there. labelled: whether masks may know the gold
    label, so that class leakage is looked for; names: what the ratios are called in notes; trainings: the seeds, where
    areas of different ones are to be compared.
    """
    if predicted.shape != random.shape or predicted.shape[1:] != (len(ratios), len(gold)):
        raise InputError(
            f"predictions of {predicted.shape} and {random.shape} for {len(ratios)} ratios; they must agree"
        )
    own, base = (curves(p, gold, score)[0] for p in (predicted, random))  # (S,I)
    found = np.asarray(area(ratios, own, base, clip=clip))  # (S,)
    drawn = draws(len(gold), resamples, seed)
    own_drawn, base_drawn = (curves(p, gold, score, drawn) for p in (predicted, random))  # (R,S,I)
    told = names or [f"{100 * ratio:g} %" for ratio in ratios]
    accuracies = _accuracies(predicted, gold, drawn), _accuracies(random, gold, drawn)
    leak = leakage(ratios, *accuracies, confidence) if labelled else None
    low = low_point(ratios, *accuracies, confidence) if leak is None else None
    warned = (*_leak_note(leak, ratios, told), *_low_note(low, ratios, told, labelled=labelled))
    if not np.isfinite(found).all():
        return _nothing(found, own, leak, warned)
    areas = np.asarray(area(ratios, own_drawn, base_drawn, clip=clip))  # (R,S)
    chosen = generator("roar seeds", seed).integers(0, areas.shape[1], areas.shape)
    means = np.take_along_axis(areas, chosen, 1).mean(1)  # (R,)
    learned = np.take_along_axis(own_drawn[..., 0] - own_drawn[..., -1], chosen, 1).mean(1)  # (R,)
    unsure = _unsure(predicted, random, float(np.quantile(learned, (1 - confidence) / 2)))
    both = _percentiles(np.where(unsure is None, means, np.nan), float(found.mean()), len(found), confidence)
    verdict = FAITHFUL if both.low > 0 else NOT if recursive and np.isfinite(both.low) else OPEN
    bca = interval(found, confidence=confidence, seed=seed)
    notes = (*_notes(found, both, unsure or CHANCE), *warned)
    t, seeds, curve = _t(found, confidence), tuple(found.tolist()), tuple(own.mean(0).tolist())
    more = tuple(means.tolist()), low, tuple(trainings)
    return Faithfulness(both.value, bca, t, both, seeds, verdict, leak, curve, notes, *more)


def difference(a: Faithfulness, b: Faithfulness, confidence: float = 0.95) -> Interval:
    """How much higher the area of a is than that of b, of the same trainings tested on the same examples.

    Both were judged on the same draws, so that what they share (the baseline, easy texts, a lucky seed) cancels: the
    interval is narrower than two that must not meet. NaN bounds where their trainings or draws are not the same.
    """
    value = a.value - b.value
    same = len(a.seeds) == len(b.seeds) and a.trainings == b.trainings
    if not same or len(a.drawn) != len(b.drawn) or not a.drawn:
        return Interval(value, np.nan, np.nan, 0)
    return _percentiles(np.subtract(a.drawn, b.drawn), value, len(a.seeds), confidence)


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


def _notes(found: NDArray[np.float64], both: Interval, unsure: str) -> tuple[str, ...]:
    notes = [COVERAGE] if len(found) > 1 else []
    if len(found) < ENOUGH:
        seeds = f"{len(found)} seed{'s' * (len(found) != 1)}"
        notes.append(f"{seeds}; the paper has {ENOUGH}, and fewer say little about other trainings")
    if both.high < 0:
        notes.append("significantly worse than random")
    if np.isnan(both.low):
        notes.append(f"no area is sure: {unsure}")
    return tuple(notes)


def _accuracies(predicted: Predicted, gold: NDArray[np.int64], drawn: NDArray[np.float64]) -> Drawn:
    return curves(predicted, gold, "accuracy")[0], curves(predicted, gold, "accuracy", drawn)


def _leak_note(leak: Leak | None, ratios: list[float], names: Sequence[str]) -> tuple[str, ...]:
    if leak is None:
        return ()
    start, end = _called(leak, ratios, names)
    who = "one training" if leak.of == 1 else f"{leak.seeds} of {leak.of} seeds"
    return (
        f"class leakage ({who}): the accuracy rises by {100 * leak.rise:.1f} points from {start} to {end} masked (p = "
        f"{leak.p:.2g}); masks chosen by the gold label may give it away, so that the measure looks less faithful",
    )


def _low_note(low: Leak | None, ratios: list[float], names: Sequence[str], *, labelled: bool) -> tuple[str, ...]:
    """A low point of one training is no proof of a leak, but it is in the area either way."""
    if low is None:
        return ()
    start, end = _called(low, ratios, names)
    failed = "it may have failed, which makes the measure look more faithful"
    leaks = "it failed, or masks chosen by the gold label tell it later: more seeds or the predicted label show which"
    return (
        f"a low point: one training's accuracy is {100 * low.rise:.1f} points lower with {start} masked than with "
        f"{end} (p = {low.p:.2g}); {leaks if labelled else failed}",
    )


def _called(leak: Leak, ratios: list[float], names: Sequence[str]) -> tuple[str, str]:
    called = dict(zip(ratios[:-1], names, strict=False))  # the end is no rise, and may be at the same ratio
    return called[leak.start], called[leak.end]


def _unsure(predicted: Predicted, random: Predicted, learned: float) -> str | None:
    """Why no area is sure, whatever it is; learned: how much better than nothing the unmasked models are, at least."""
    return SAME if np.array_equal(predicted, random) else UNLEARNED if learned <= 0 else None


def _nothing(
    found: NDArray[np.float64], own: NDArray[np.float64], leak: Leak | None, warned: tuple[str, ...]
) -> Faithfulness:
    none, unknown = Interval(np.nan, np.nan, np.nan, len(found)), int(np.isnan(found).sum())
    who = "" if unknown == len(found) else f" in {unknown} of {len(found)} seeds"
    why = f"masking everything costs the random baseline nothing{who}, so there is no area to compare with"
    curve, notes = tuple(own.mean(0).tolist()), (why, *warned)
    return Faithfulness(np.nan, none, none, none, tuple(found.tolist()), OPEN, leak, curve, notes)
