"""Does an explanation teach, or would any have helped? A verdict on each method against its controls.

Against `none`: did the explanation help at all? Against its own shares shuffled over the tokens: did what it says help,
or only that something was said?
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from assay.evaluation.simulability.scores import (
    Reals,
    contributions,
    detectable_mean,
    learnt,
    over_seeds_and_texts,
    quartiles,
)
from assay.statistics.bootstrap import Interval
from assay.statistics.permutation import holm, paired_test
from assay.statistics.power import detectable

TEACHES, REGULARISES, HURTS, NO_EFFECT, UNDECIDED = (
    "teaches",
    "helps like any explanation",
    "hurts",
    "no effect found",
    "undecided",
)
Verdict = Literal["teaches", "helps like any explanation", "hurts", "no effect found", "undecided"]
ALPHA = 0.05
MARGIN = 0.01  # the smallest difference that matters: a point
FEWEST = 6  # students below which no paired test can be significant: 2 / 2^5 = .06


def fewest(methods: int) -> int:
    """Students below which no paired test is significant after Holm's correction: 2 / 2^n x methods > .05."""
    return max(FEWEST, 1 + math.ceil(math.log2(max(methods, 1) / ALPHA)))


@dataclass(frozen=True)
class Gain:
    """The difference to a control, in points of the score, over the same seeds and texts."""

    control: str
    interval: Interval  # over seeds and texts
    p: float  # paired test over seeds, corrected for the number of methods
    power: float  # the smallest difference that is clear with 80 % power, about; infinite if none, or unknown

    @property
    def clear(self) -> int:
        """1 or -1 if the difference matters, is significant over seeds and its interval excludes 0; otherwise 0."""
        if not self.p <= ALPHA or abs(self.interval.value) < MARGIN:
            return 0
        return 1 if self.interval.low > 0 else -1 if self.interval.high < 0 else 0


@dataclass(frozen=True)
class Judged:
    """The students of one method on one number of texts."""

    students: tuple[float, ...]  # score of each seed
    mean: Interval  # over seeds and texts
    median: float
    quartiles: tuple[float, float]
    gains: Mapping[str, Gain]  # over `none`, and over the shuffled explanations
    verdict: Verdict | None  # None for controls
    underlined: bool  # the paper's mark: quartiles above those of `none`, without overlap

    def to_dict(self) -> dict[str, Any]:
        gains = {name: {**asdict(gain), "power": _finite(gain.power)} for name, gain in self.gains.items()}
        return {**asdict(self), "gains": gains}


def judge(
    outputs: Mapping[str, NDArray[Any]], teacher: NDArray[Any], controls: Mapping[str, str], none: str
) -> dict[str, Judged]:
    """Judge every method. outputs: (S,N) by name, controls included; controls: {method: its shuffled control}."""
    parts = {name: contributions(rows, teacher) for name, rows in outputs.items()}
    scores = {name: rows.mean(1) for name, rows in parts.items()}
    least = 0.0 if np.issubdtype(teacher.dtype, np.integer) else -1.0  # an agreement, or a correlation
    compared = [(m, c) for m in outputs if m != none for c in (none, controls.get(m, none)) if c in outputs]
    compared = list(dict.fromkeys(compared))
    methods = [m for m in controls if m in outputs]
    p = _corrected({pair: _test(*(scores[name] for name in pair)) for pair in compared}, none, methods)
    gains: dict[str, dict[str, Gain]] = {name: {} for name in outputs}
    for method, control in compared:
        difference, apart = scores[method] - scores[control], parts[method] - parts[control]
        interval = over_seeds_and_texts(apart, limits=(least - 1, 1 - least))
        alpha = ALPHA / max(len(methods), 1)  # what Holm asks of the clearest difference
        sd = float(difference.std(ddof=1)) if len(difference) > 1 else math.nan
        # equal students say nothing about how far others differ
        power = max(detectable(sd, len(difference), alpha=alpha), detectable_mean(apart)) if sd > 0 else math.inf
        gains[method][control] = Gain(control, interval, p[method, control], power)
    enough = min(map(len, scores.values())) >= fewest(len(methods)) and learnt(outputs.values(), teacher)
    quarters = {name: quartiles(rows) for name, rows in scores.items()}
    return {
        name: Judged(
            tuple(rows.tolist()),
            over_seeds_and_texts(parts[name], limits=(least, 1.0)),
            quarters[name][0],
            quarters[name][1:],
            gains[name],
            verdict_of(gains[name], none, controls[name], enough=enough) if name in controls else None,
            name != none and quarters[name][1] > quarters[none][2],
        )
        for name, rows in scores.items()
    }


def verdict_of(gains: Mapping[str, Gain], none: str, control: str, *, enough: bool) -> Verdict:
    """Teaching needs both: better than nothing, and better than the same shares shuffled over the tokens."""
    if not enough or not {none, control} <= set(gains):
        return "undecided"
    over_none, over_shuffled = gains[none].clear, gains[control].clear
    if over_none < 0:
        return "hurts"
    if over_none > 0:
        return "teaches" if over_shuffled > 0 else "helps like any explanation"
    return "no effect found"


def _test(method: Reals, control: Reals) -> float:
    return paired_test(method, control) if len(method) > 1 else 1.0


def _corrected(p: Mapping[tuple[str, str], float], none: str, methods: Sequence[str]) -> dict[tuple[str, str], float]:
    """Holm's correction over the methods, once for the question "against none", once for "against shuffled".

    Controls against none are a family of their own: they are not judged, and must not cost the methods power.
    """
    families: dict[tuple[bool, bool], list[tuple[str, str]]] = defaultdict(list)
    for pair in p:
        families[pair[0] in methods, pair[1] == none].append(pair)
    out: dict[tuple[str, str], float] = {}
    for pairs in families.values():
        out |= zip(pairs, holm(np.array([p[pair] for pair in pairs])).tolist(), strict=True)
    return out


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
