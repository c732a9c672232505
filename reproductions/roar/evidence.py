"""What the store holds of Madsen et al. 2022, and how sure it is.

A measure beats another if the interval of the difference of their areas lies above 0, over the seeds and test examples
that they share; areas that share no seeds differ by that of two independent means. A handful of seeds says too little
about trainings: their part in every interval is that of all places together (or their own, if larger). Masks that tell
the label make an area too low, so that none whose curve leaks is beaten; how early they tell it, which differs between
seeds, is no noise of trainings. A low point of one training is a leak or a training that failed, which makes it too
high: such an area neither beats another nor is beaten, unless it has three seeds or more, where failures are in the
noise of trainings, and the mean shows a leak.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np
from scipy.stats import norm

from assay.evaluation.roar.synthetic import Synthetic
from assay.evaluation.roar.verdict import Faithfulness, difference
from assay.statistics.bootstrap import Interval
from assay.studies.roar.curves import Curves

LSTM, TRANSFORMER = "LSTM", "transformer"
ATTENTION, GRADIENT, IXG, IG = "attention", "gradient", "input x gradient", "integrated gradients"
RETRAINED = ("recursive", "roar")
AT_FIFTHS = "recursive, at fifths"
MEASURES = {LSTM: (ATTENTION, GRADIENT, IXG, IG), TRANSFORMER: (GRADIENT, IG)}  # what the plans ask for
FEW = 3  # seeds, or data sets
LEAKING, LOW = "leaking", "a low point"
Place = tuple[str, str]  # data and model, as the paper calls them
Areas = Mapping[str, Faithfulness]


@dataclass(frozen=True)
class Noise:
    """Variance over trainings: of an area, and of the difference of two areas of the same trainings."""

    area: float
    gap: float

    @classmethod
    def of(cls, areas: Iterable[Areas], leaking: bool = False) -> Noise:
        """The means over all that have three seeds and do not leak (or all of three seeds); infinite if nothing has."""
        enough = [[f for f in found.values() if len(f.seeds) >= FEW and (leaking or not f.leak)] for found in areas]
        alone = [np.var(f.seeds, ddof=1) for found in enough for f in found]
        same = [(a, b) for found in enough for a, b in combinations(found, 2) if a.trainings == b.trainings]
        pairs = [(np.array(a.seeds), np.array(b.seeds)) for a, b in same if len(a.seeds) == len(b.seeds)]
        gaps = [(a - b).var(ddof=1) for a, b in pairs]
        return cls(*(float(np.mean(v)) if v else np.inf for v in (alone, gaps)))


def variance(i: Interval, seeds: Sequence[float], pooled: float) -> float:
    """Of a mean over trainings and texts: over texts as its interval has it, over trainings as all places know it."""
    n, found = len(seeds), ((i.high - i.low) / 2 / norm.ppf(0.975)) ** 2
    drawn = np.var(seeds) / n  # what drawing the same few seeds again has put into the interval
    own = np.var(seeds, ddof=1) if n > 1 else 0.0
    return float(np.maximum(0.0, found - drawn) + max(pooled, own) / n)  # NaN stays: no area is sure


def around(value: float, variance: float, n: int, confidence: float) -> Interval:
    half = norm.ppf((1 + confidence) / 2) * np.sqrt(variance)
    return Interval(value, float(value - half), float(value + half), n)


@dataclass(frozen=True)
class Evidence:
    """Curves and areas by (data, model) and study; methods have the paper's names."""

    curves: Mapping[tuple[Place, str], Curves]
    areas: Mapping[tuple[Place, str], Areas]
    at_fifths: Mapping[Place, Areas] = field(default_factory=dict)  # Recursive ROAR at 0, 20, ..., 100 %: one grid
    leaks_are_noise: bool = False  # whether areas of curves that leak say how much trainings vary

    def of(self, data: str, model: str, study: str = "recursive") -> Areas:
        """Empty until all measures of the plan are there: the best of those that are is not the best."""
        found = self.areas.get(((data, model), study), {})
        return found if known(found, *MEASURES[model]) else {}

    def ran(self, data: str, model: str, study: str = "recursive") -> bool:
        """Whether all was run, even if no area is sure: a model that all masks cost nothing has none."""
        place = (data, model)
        found = self.at_fifths.get(place, {}) if study == AT_FIFTHS else self.areas.get((place, study), {})
        return set(MEASURES[model]) <= set(found)

    @property
    def recursive(self) -> dict[Place, Areas]:
        return {p: found for p, study in self.areas if study == "recursive" and (found := self.of(*p))}

    @property
    def fifths(self) -> dict[Place, Areas]:
        return {p: found for p, found in self.at_fifths.items() if known(found, *MEASURES[p[1]])}

    @cached_property
    def pooled(self) -> dict[tuple[Place, str], Areas]:
        """What tells how much trainings vary."""
        kept = {key: areas for key, areas in self.areas.items() if key[1] in RETRAINED}
        return {key: areas for key, areas in kept.items() if any(len(f.seeds) >= FEW for f in areas.values())}

    @cached_property
    def noise(self) -> Noise:
        return Noise.of(self.pooled.values(), self.leaks_are_noise)

    @cached_property
    def synthetic(self) -> dict[str, list[float]]:
        return {policy: Synthetic().curve(policy).tolist() for policy in ("truth", "recursive", "roar", "worst")}

    def interval(self, f: Faithfulness) -> Interval:
        """Where an area may lie, for other trainings and texts."""
        return around(f.value, self._variance(f), len(f.seeds), 0.95)

    def _variance(self, f: Faithfulness) -> float:
        return variance(f.both, f.seeds, self.noise.area)

    def gap(self, a: Faithfulness, b: Faithfulness, confidence: float = 0.95) -> Interval:
        """How much higher a is than b, on the same data; as of areas that share no seeds, if theirs are others."""
        paired = difference(a, b)
        if not np.isfinite(paired.low):
            return self._independent(a, b, confidence)
        spread = variance(paired, np.subtract(a.seeds, b.seeds).tolist(), self.noise.gap)
        return around(paired.value, spread, len(a.seeds), confidence)

    def _independent(self, a: Faithfulness, b: Faithfulness, confidence: float) -> Interval:
        spread = self._variance(a) + self._variance(b)
        return around(a.value - b.value, spread, min(len(a.seeds), len(b.seeds)), confidence)

    def apart(self, a: Faithfulness, b: Faithfulness, confidence: float = 0.95) -> bool:
        """Whether areas of different data or models differ, which share no seeds."""
        gap = self._independent(a, b, confidence)
        return (gap.low > 0 and may_win(a, b)) or (gap.high < 0 and may_win(b, a))

    def above(self, a: Faithfulness, b: Faithfulness, confidence: float = 0.95) -> bool:
        """Whether a beats b, on the same data."""
        return self.gap(a, b, confidence).low > 0 and may_win(a, b)

    def faithful(self, f: Faithfulness) -> bool | None:
        """Whether a measure is above random, or surely not; None: it cannot be told."""
        i = self.interval(f)
        return True if i.low > 0 and doubt(f) != LOW else False if i.high < 0 and not doubt(f) else None

    def ordered(self, a: Faithfulness, b: Faithfulness, confidence: float = 0.95) -> bool | None:
        """Whether a is above b; None: it cannot be told."""
        return True if self.above(a, b, confidence) else False if self.above(b, a, confidence) else None

    def show(self, name: str, f: Faithfulness) -> str:
        said = ", ".join(word for word in (counted(len(f.seeds)), doubt(f)) if word)
        return f"{name} {percent(self.interval(f))} ({said})"


def doubt(f: Faithfulness) -> str:
    """Why an area may be wrong: a leak makes it too low, a low point is a leak or a failed training."""
    return LEAKING if f.leak else LOW if f.low and len(f.seeds) < FEW else ""


def may_win(a: Faithfulness, b: Faithfulness) -> bool:
    """Whether a may beat b: b is not too low for a reason of its own, nor a too high."""
    return not doubt(b) and doubt(a) != LOW


def counted(seeds: int) -> str:
    return f"{seeds} seed{'s' * (seeds != 1)}"


def shared(pairs: Sequence[object]) -> float:
    """The confidence of each of so many comparisons (Bonferroni)."""
    return 1 - 0.05 / max(1, len(pairs))


def percent(i: Interval) -> str:
    return f"{100 * i.value:.1f} [{100 * i.low:.1f}, {100 * i.high:.1f}]"


def known(found: Areas, *names: str) -> bool:
    return all(name in found and np.isfinite(found[name].both.low) for name in names)
