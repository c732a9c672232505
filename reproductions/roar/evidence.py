"""Curves and areas of Madsen et al. 2022, with intervals and comparisons.

One measure is above another if the interval of the difference of their areas, over their shared seeds and test
examples, lies above 0. Areas without shared seeds are compared as independent means.

- Few seeds say little about the variance between trainings. Every interval therefore uses the variance pooled over all
  data sets and models, or the measure's own if that is larger.
- Masks that reveal the label make an area too low, so an area with a leaking curve never loses a comparison. Leaks
  start at different steps for different seeds; this does not count as variance between trainings.
- A low point of a single training is either a leak or a failed training, which makes the area too high. Such an area
  neither wins nor loses, unless it has three or more seeds: then failures are part of the variance, and the mean curve
  shows leaks.
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
MEASURES = {LSTM: (ATTENTION, GRADIENT, IXG, IG), TRANSFORMER: (GRADIENT, IG)}  # of the plans
FEW = 3  # seeds, or data sets
LEAKING, LOW = "leaking", "a low point"
Place = tuple[str, str]  # data and model, as named in the paper
Areas = Mapping[str, Faithfulness]


@dataclass(frozen=True)
class Noise:
    """Variance between trainings: of an area, and of the difference of two areas of the same trainings."""

    area: float
    gap: float

    @classmethod
    def of(cls, areas: Iterable[Areas], leaking: bool = False) -> Noise:
        """Mean variances over areas with three or more seeds, without leaking ones unless asked; infinite if none."""
        enough = [[f for f in group.values() if len(f.seeds) >= FEW and (leaking or not f.leak)] for group in areas]
        single = [np.var(f.seeds, ddof=1) for group in enough for f in group]
        same = [(a, b) for group in enough for a, b in combinations(group, 2) if a.trainings == b.trainings]
        pairs = [(np.array(a.seeds), np.array(b.seeds)) for a, b in same if len(a.seeds) == len(b.seeds)]
        gaps = [(a - b).var(ddof=1) for a, b in pairs]
        return cls(*(float(np.mean(v)) if v else np.inf for v in (single, gaps)))


def variance(i: Interval, seeds: Sequence[float], pooled: float) -> float:
    """Variance of a mean over trainings and texts: its interval's part of the texts, plus that of the trainings."""
    n, total = len(seeds), ((i.high - i.low) / 2 / norm.ppf(0.975)) ** 2
    resampled = np.var(seeds) / n  # what resampling these few seeds has added to the interval
    own = np.var(seeds, ddof=1) if n > 1 else 0.0
    return float(np.maximum(0.0, total - resampled) + max(pooled, own) / n)  # NaN stays NaN: the area is undefined


def around(value: float, variance: float, n: int, confidence: float) -> Interval:
    half = norm.ppf((1 + confidence) / 2) * np.sqrt(variance)
    return Interval(value, float(value - half), float(value + half), n)


@dataclass(frozen=True)
class Evidence:
    """Curves and areas by (data, model) and study; measures are named as in the paper."""

    curves: Mapping[tuple[Place, str], Curves]
    areas: Mapping[tuple[Place, str], Areas]
    at_fifths: Mapping[Place, Areas] = field(default_factory=dict)  # Recursive ROAR at 0, 20, ..., 100 %: one grid
    leaks_are_noise: bool = False  # whether leaking curves count for the variance between trainings

    def of(self, data: str, model: str, study: str = "recursive") -> Areas:
        """Areas by measure; empty unless all measures of the plan are there, as one of the missing could be best."""
        areas = self.areas.get(((data, model), study), {})
        return areas if known(areas, *MEASURES[model]) else {}

    def ran(self, data: str, model: str, study: str = "recursive") -> bool:
        """Whether all measures were run, even if no area is defined because masking all words costs nothing."""
        place = (data, model)
        areas = self.at_fifths.get(place, {}) if study == AT_FIFTHS else self.areas.get((place, study), {})
        return set(MEASURES[model]) <= set(areas)

    @property
    def recursive(self) -> dict[Place, Areas]:
        return {p: areas for p, study in self.areas if study == "recursive" and (areas := self.of(*p))}

    @property
    def fifths(self) -> dict[Place, Areas]:
        return {p: areas for p, areas in self.at_fifths.items() if known(areas, *MEASURES[p[1]])}

    @cached_property
    def pooled(self) -> dict[tuple[Place, str], Areas]:
        """The areas that the variance between trainings is estimated from."""
        retrained = {key: areas for key, areas in self.areas.items() if key[1] in RETRAINED}
        return {key: areas for key, areas in retrained.items() if any(len(f.seeds) >= FEW for f in areas.values())}

    @cached_property
    def noise(self) -> Noise:
        return Noise.of(self.pooled.values(), self.leaks_are_noise)

    @cached_property
    def synthetic(self) -> dict[str, list[float]]:
        return {policy: Synthetic().curve(policy).tolist() for policy in ("truth", "recursive", "roar", "worst")}

    def interval(self, f: Faithfulness) -> Interval:
        """95 % interval of an area for new trainings and texts."""
        return around(f.value, self._variance(f), len(f.seeds), 0.95)

    def _variance(self, f: Faithfulness) -> float:
        return variance(f.both, f.seeds, self.noise.area)

    def gap(self, a: Faithfulness, b: Faithfulness, confidence: float = 0.95) -> Interval:
        """Interval of a - b on the same data; paired if they share their seeds."""
        paired = difference(a, b)
        if not np.isfinite(paired.low):
            return self._independent(a, b, confidence)
        spread = variance(paired, np.subtract(a.seeds, b.seeds).tolist(), self.noise.gap)
        return around(paired.value, spread, len(a.seeds), confidence)

    def _independent(self, a: Faithfulness, b: Faithfulness, confidence: float) -> Interval:
        spread = self._variance(a) + self._variance(b)
        return around(a.value - b.value, spread, min(len(a.seeds), len(b.seeds)), confidence)

    def differ(self, a: Faithfulness, b: Faithfulness, confidence: float = 0.95) -> bool:
        """Whether areas of different data or models, which share no seeds, differ."""
        gap = self._independent(a, b, confidence)
        return (gap.low > 0 and may_win(a, b)) or (gap.high < 0 and may_win(b, a))

    def above(self, a: Faithfulness, b: Faithfulness, confidence: float = 0.95) -> bool:
        """Whether a is above b on the same data."""
        return self.gap(a, b, confidence).low > 0 and may_win(a, b)

    def faithful(self, f: Faithfulness) -> bool | None:
        """True: above random; False: below random; None: undecided."""
        i = self.interval(f)
        return True if i.low > 0 and doubt(f) != LOW else False if i.high < 0 and not doubt(f) else None

    def ordered(self, a: Faithfulness, b: Faithfulness, confidence: float = 0.95) -> bool | None:
        """True: a is above b; False: b is above a; None: undecided."""
        return True if self.above(a, b, confidence) else False if self.above(b, a, confidence) else None

    def show(self, name: str, f: Faithfulness) -> str:
        notes = ", ".join(note for note in (counted(len(f.seeds)), doubt(f)) if note)
        return f"{name} {percent(self.interval(f))} ({notes})"


def doubt(f: Faithfulness) -> str:
    """Why an area may be wrong: a leak makes it too low; a low point is a leak or a failed training."""
    return LEAKING if f.leak else LOW if f.low and len(f.seeds) < FEW else ""


def may_win(a: Faithfulness, b: Faithfulness) -> bool:
    """Whether a can be above b: b is not biased downwards, and a not upwards."""
    return not doubt(b) and doubt(a) != LOW


def counted(seeds: int) -> str:
    return f"{seeds} seed{'s' * (seeds != 1)}"


def shared(pairs: Sequence[object]) -> float:
    """The confidence of each of these comparisons (Bonferroni)."""
    return 1 - 0.05 / max(1, len(pairs))


def percent(i: Interval) -> str:
    return f"{100 * i.value:.1f} [{100 * i.low:.1f}, {100 * i.high:.1f}]"


def known(areas: Areas, *names: str) -> bool:
    return all(name in areas and np.isfinite(areas[name].both.low) for name in names)
