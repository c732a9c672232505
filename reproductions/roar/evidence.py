"""Curves and areas of Madsen et al. 2022, with intervals and comparisons.

Areas of the same trainings are compared over their shared seeds and test examples, others as independent means.

- Few seeds say little about the variance between trainings. Every interval therefore uses the variance pooled over all
  data sets and models, or the measure's own if that is larger.
- Masks that reveal the label make an area too low. `Leaks` says how this counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from itertools import combinations

import numpy as np
from scipy.stats import norm

from assay.evaluation.roar.synthetic import Synthetic
from assay.evaluation.roar.verdict import Faithfulness, difference
from assay.statistics.bootstrap import Interval
from assay.statistics.estimates import Estimate
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


class Leaks(StrEnum):
    """How an area counts whose curve leaks the label.

    A low point of a single training is either a leak or a failed training, which makes the area too high. With fewer
    than three seeds, BOUND and NOISE bound such an area on neither side; with more, failures are part of the variance.
    """

    AS_MEASURED = "as measured"  # like any other
    BOUND = "a bound"  # the true area is at least as large
    NOISE = "a bound, and noise"  # and its spread over seeds counts for the variance between trainings


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


@dataclass(frozen=True)
class Evidence:
    """Curves and areas by (data, model) and study; measures are named as in the paper."""

    curves: Mapping[tuple[Place, str], Curves]
    areas: Mapping[tuple[Place, str], Areas]
    at_fifths: Mapping[Place, Areas] = field(default_factory=dict)  # Recursive ROAR at 0, 20, ..., 100 %: one grid
    leaks: Leaks = Leaks.AS_MEASURED

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
        return Noise.of(self.pooled.values(), self.leaks is Leaks.NOISE)

    @cached_property
    def synthetic(self) -> dict[str, list[float]]:
        return {policy: Synthetic().curve(policy).tolist() for policy in ("truth", "recursive", "roar", "worst")}

    def counting(self, leaks: Leaks) -> Evidence:
        """The same evidence with another way of counting leaks."""
        other = replace(self, leaks=leaks)
        if "synthetic" in self.__dict__:  # it takes half a minute, and no leak matters for it
            other.__dict__["synthetic"] = self.synthetic
        return other

    def area(self, f: Faithfulness) -> Estimate:
        """An area for new trainings and texts."""
        too_low, too_high = (False, False) if self.leaks is Leaks.AS_MEASURED else (bool(doubt(f)), doubt(f) == LOW)
        return Estimate(f.value, variance(f.both, f.seeds, self.noise.area), len(f.seeds), too_low, too_high)

    def gap(self, a: Faithfulness, b: Faithfulness) -> Estimate:
        """a - b on the same data; paired if they share their seeds."""
        apart, paired = self.apart(a, b), difference(a, b)
        if not np.isfinite(paired.low):
            return apart
        spread = variance(paired, np.subtract(a.seeds, b.seeds).tolist(), self.noise.gap)
        return replace(apart, value=paired.value, variance=spread)

    def apart(self, a: Faithfulness, b: Faithfulness) -> Estimate:
        """a - b for areas of different data or models, which share no trainings."""
        return self.area(a) - self.area(b)

    def interval(self, f: Faithfulness) -> Interval:
        """95 % interval of an area for new trainings and texts, as measured."""
        return replace(self.area(f), too_low=False, too_high=False).interval(0.95)

    def faithful(self, f: Faithfulness) -> bool | None:
        """True: above random; False: below random; None: undecided."""
        return sign(self.area(f).interval(0.95))

    def ordered(self, a: Faithfulness, b: Faithfulness) -> bool | None:
        """True: a is above b on the same data; False: b is above a; None: undecided."""
        return sign(self.gap(a, b).interval(0.95))

    def show(self, name: str, f: Faithfulness) -> str:
        notes = ", ".join(note for note in (counted(len(f.seeds)), doubt(f)) if note)
        return f"{name} {percent(self.interval(f))} ({notes})"


def doubt(f: Faithfulness) -> str:
    """Why an area may be wrong: a leak makes it too low; a low point is a leak or a failed training."""
    return LEAKING if f.leak else LOW if f.low and len(f.seeds) < FEW else ""


def sign(i: Interval) -> bool | None:
    """Of what an interval leaves possible; None: both signs, or unknown."""
    return True if i.low > 0 else False if i.high < 0 else None


def counted(seeds: int) -> str:
    return f"{seeds} seed{'s' * (seeds != 1)}"


def percent(i: Interval) -> str:
    return f"{100 * i.value:.1f} [{100 * i.low:.1f}, {100 * i.high:.1f}]"


def known(areas: Areas, *names: str) -> bool:
    return all(name in areas and np.isfinite(areas[name].both.low) for name in names)
