"""From values per example to a verdict: who is best, who ties with the best, who beats random."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from assay.core.errors import InputError, SpecError, nearest
from assay.statistics import sentences
from assay.statistics.bootstrap import EQUAL, Interval, Kind, Values, check, intervals
from assay.statistics.permutation import holm, sign_flips
from assay.statistics.power import detectable
from assay.statistics.sentences import overall as overall  # the verdict across metrics, beside the one per metric

Better = Literal["higher", "lower"]


@dataclass(frozen=True, slots=True)
class Standing:
    """One method on one metric. The p-values are Holm's: compare them with alpha as they are."""

    method: str
    value: float
    low: float
    high: float
    n: int
    beats_random: bool | None  # None: this is the control, or there is none
    worse_than_random: bool | None
    best_group: bool  # not distinguishable from the best
    p_random: float | None  # one-sided: no better than the control?
    p_best: float | None  # two-sided: no different from the best? None for the best itself


@dataclass(frozen=True, slots=True)
class Comparison:
    """All methods on one metric, best first."""

    standings: tuple[Standing, ...]
    better: Better
    control: str | None  # None: there is none among the methods
    alpha: float
    n: int
    detectable: float | None  # the mean difference that n examples show with 80 % power; None with one method

    def __getitem__(self, method: str) -> Standing:
        for standing in self.standings:
            if standing.method == method:
                return standing
        raise InputError(f"there is no method {method!r}; {nearest(method, [s.method for s in self.standings])}")

    @property
    def best(self) -> Standing:
        return self.standings[0]

    @property
    def power_note(self) -> str:
        """What n examples cannot tell; empty where n >= 30 and everything is told."""
        return sentences.power_note(self)

    def sentence(self, metric: str) -> str:
        """The verdict in plain words, with the power note."""
        return sentences.verdict(self, metric)


def compare(
    values: Mapping[str, ArrayLike],  # method -> (n,), on the same examples in the same order
    better: Better,
    *,
    control: str | None = "random",
    alpha: float = 0.05,
    seed: int = 0,
    kind: Kind = "bca",
    resamples: int = 10_000,
    permutations: int = 10_000,
) -> Comparison:
    """Intervals of the means, and two families of paired sign-flip tests, each corrected by Holm at `alpha`.

    beats_random: one-sided, every method against the control. best_group: two-sided, over all pairs of methods; in the
    group is who does not differ from the best mean. All pairs, because the best is chosen by looking: correcting only
    for the comparisons with it would exclude one of eight equal methods in about 10 % of all cases, not 5 %.
    The control is in the best group exactly if the best does not beat it, so the two families never contradict.

    Weakness: no difference shown is not no difference; `detectable` says how large one may have been missed.
    """
    rows = _rows(values, better, alpha)
    names = list(values)
    at = names.index(control) if control in names else None
    tests = _test(rows if better == "higher" else -rows, at, alpha, permutations, seed)
    drawn = intervals(rows, confidence=1 - alpha, kind=kind, resamples=resamples, seed=seed)
    return Comparison(
        standings=tuple(_standing(names[i], drawn[i], tests, i, alpha) for i in tests.order),
        better=better,
        control=None if at is None else control,
        alpha=alpha,
        n=rows.shape[1],
        detectable=tests.detectable,
    )


@dataclass(frozen=True, slots=True)
class _Tests:
    """What the two families of tests found; larger is better."""

    mean: Values  # (K,)
    order: tuple[int, ...]  # best first
    at: int | None  # the control
    p_random: Values  # (K,); NaN for the control, or if there is none
    p_pair: Values  # (K,K); 1 on the diagonal
    detectable: float | None

    @property
    def p_best(self) -> Values:
        """Against the best, (K,); for the control, the test by which the best beats it."""
        best = self.order[0]
        out: Values = self.p_pair[best].copy()
        if self.at is not None and self.at != best:
            out[self.at] = self.p_random[best]
        return out


def _test(rows: Values, at: int | None, alpha: float, permutations: int, seed: int) -> _Tests:
    first, second = np.triu_indices(len(rows), 1)
    enough = max(permutations, int(np.ceil(10 * len(first) / alpha)))  # or Holm could never reach alpha
    mean = rows.mean(1)
    order = tuple(int(i) for i in np.argsort(-mean, kind="stable"))
    p_random = np.full(len(rows), np.nan)
    if at is not None and len(rows) > 1:
        others = np.arange(len(rows)) != at
        against = rows[others] - rows[at]
        p_random[others] = holm(sign_flips(against, alternative="greater", permutations=enough, seed=seed))
    p_pair = np.ones((len(rows), len(rows)))
    if len(first):
        p_pair[first, second] = holm(sign_flips(rows[first] - rows[second], permutations=enough, seed=seed))
        p_pair[second, first] = p_pair[first, second]
    return _Tests(mean, order, at, p_random, p_pair, _smallest(rows, order, alpha / max(1, len(first))))


def _smallest(rows: Values, order: tuple[int, ...], alpha: float) -> float | None:
    """The detectable difference for the median spread of the differences to the best."""
    n = rows.shape[1]
    if len(rows) == 1:
        return None
    spread = (rows[order[0]] - rows[list(order[1:])]).std(1, ddof=1) if n > 1 else np.zeros(1)
    sd = float(np.median(spread))
    return detectable(sd if sd > EQUAL * np.abs(rows).max() else 0.0, n, alpha=alpha)  # or rounding would be a spread


def _standing(method: str, drawn: Interval, tests: _Tests, i: int, alpha: float) -> Standing:
    at, best = tests.at, tests.order[0]
    controlled = at is not None and i != at
    worse = bool(tests.p_pair[i, at] <= alpha and tests.mean[i] < tests.mean[at]) if at is not None else False
    return Standing(
        method=method,
        value=drawn.value,
        low=drawn.low,
        high=drawn.high,
        n=drawn.n,
        beats_random=bool(tests.p_random[i] <= alpha) if controlled else None,
        worse_than_random=worse if controlled else None,
        best_group=i == best or bool(tests.p_best[i] > alpha),
        p_random=float(tests.p_random[i]) if controlled else None,
        p_best=None if i == best else float(tests.p_best[i]),
    )


def _rows(values: Mapping[str, ArrayLike], better: str, alpha: float) -> Values:
    """The values as (K,n), checked."""
    if better not in get_args(Better):
        raise SpecError(f"better={better!r} is not a direction; {nearest(str(better), get_args(Better))}")
    if not 0 < alpha < 1:
        raise SpecError(f"alpha={alpha}: needs 0 < alpha < 1")
    shapes = {method: np.shape(row) for method, row in values.items()}
    if not shapes or len(set(shapes.values())) > 1 or any(len(shape) != 1 for shape in shapes.values()):
        raise InputError(f"values of shapes {shapes} were given; every method needs one value for each of n examples")
    return check([np.asarray(row, np.float64) for row in values.values()], list(values))
