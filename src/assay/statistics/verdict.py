"""Compare methods on one metric: the best method, the methods not significantly different from it, and random."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from assay.core.errors import InputError, SpecError, nearest
from assay.statistics import sentences
from assay.statistics.bootstrap import EQUAL, Interval, Kind, Values, check_values, intervals
from assay.statistics.permutation import holm, sign_flips
from assay.statistics.power import detectable
from assay.statistics.sentences import overall as overall  # the verdict across metrics

Better = Literal["higher", "lower"]


@dataclass(frozen=True, slots=True)
class Standing:
    """One method on one metric. The p-values are Holm-adjusted: compare them with alpha directly."""

    method: str
    value: float
    low: float
    high: float
    n: int
    beats_random: bool | None  # None: this is the control, or there is no control
    worse_than_random: bool | None
    best_group: bool  # the best method, or not significantly different from it
    p_random: float | None  # one-sided, against the control
    p_best: float | None  # two-sided, against the best method; None for the best itself


@dataclass(frozen=True, slots=True)
class Comparison:
    """All methods on one metric, best first."""

    standings: tuple[Standing, ...]
    better: Better
    control: str | None  # None: no control among the methods
    alpha: float
    n: int
    detectable: float | None  # mean difference that n examples detect with 80 % power; None with one method

    def __getitem__(self, method: str) -> Standing:
        for standing in self.standings:
            if standing.method == method:
                return standing
        raise InputError(f"unknown method {method!r}; {nearest(method, [s.method for s in self.standings])}")

    @property
    def best(self) -> Standing:
        return self.standings[0]

    @property
    def power_note(self) -> str:
        """What n examples cannot show; empty if n >= 30 and every comparison is significant."""
        return sentences.power_note(self)

    def sentence(self, metric: str) -> str:
        """The verdict in words, with the power note."""
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
    """Intervals of the means, and two families of paired sign-flip tests, each Holm-corrected at `alpha`.

    beats_random: one-sided tests of every method against the control. best_group: the methods not significantly
    different from the best mean, by two-sided tests. These are corrected over all pairs of methods because the best is
    chosen from the data: correcting only over comparisons with it would exclude one of eight equal methods in about
    10 % of all cases instead of 5 %. The control is in the best group if and only if the best method does not beat it,
    so the two families never contradict each other.

    Weakness: no significant difference does not mean no difference; see `detectable`.
    """
    rows = _rows(values, better, alpha)
    names = list(values)
    index = names.index(control) if control in names else None
    tests = _test(rows if better == "higher" else -rows, index, alpha, permutations, seed)
    means = intervals(rows, confidence=1 - alpha, kind=kind, resamples=resamples, seed=seed)
    return Comparison(
        standings=tuple(_standing(names[i], means[i], tests, i, alpha) for i in tests.order),
        better=better,
        control=None if index is None else control,
        alpha=alpha,
        n=rows.shape[1],
        detectable=tests.detectable,
    )


@dataclass(frozen=True, slots=True)
class _Tests:
    """The results of both families of tests; larger is better."""

    mean: Values  # (K,)
    order: tuple[int, ...]  # best first
    control: int | None  # its index
    p_random: Values  # (K,); NaN for the control, or if there is none
    p_pair: Values  # (K,K); 1 on the diagonal
    detectable: float | None

    @property
    def p_best(self) -> Values:
        """Against the best, (K,); for the control, the one-sided test of the best against it."""
        best = self.order[0]
        out: Values = self.p_pair[best].copy()
        if self.control is not None and self.control != best:
            out[self.control] = self.p_random[best]
        return out


def _test(rows: Values, control: int | None, alpha: float, permutations: int, seed: int) -> _Tests:
    first, second = np.triu_indices(len(rows), 1)
    enough = max(permutations, int(np.ceil(10 * len(first) / alpha)))  # otherwise Holm could never reach alpha
    mean = rows.mean(1)
    order = tuple(int(i) for i in np.argsort(-mean, kind="stable"))
    p_random = np.full(len(rows), np.nan)
    if control is not None and len(rows) > 1:
        others = np.arange(len(rows)) != control
        differences = rows[others] - rows[control]
        p_random[others] = holm(sign_flips(differences, alternative="greater", permutations=enough, seed=seed))
    p_pair = np.ones((len(rows), len(rows)))
    if len(first):
        p_pair[first, second] = holm(sign_flips(rows[first] - rows[second], permutations=enough, seed=seed))
        p_pair[second, first] = p_pair[first, second]
    return _Tests(mean, order, control, p_random, p_pair, _detectable(rows, order, alpha / max(1, len(first))))


def _detectable(rows: Values, order: tuple[int, ...], alpha: float) -> float | None:
    """The detectable difference, for the median standard deviation of the differences to the best."""
    n = rows.shape[1]
    if len(rows) == 1:
        return None
    spread = (rows[order[0]] - rows[list(order[1:])]).std(1, ddof=1) if n > 1 else np.zeros(1)
    sd = float(np.median(spread))
    return detectable(sd if sd > EQUAL * np.abs(rows).max() else 0.0, n, alpha=alpha)  # ignore rounding errors


def _standing(method: str, mean: Interval, tests: _Tests, i: int, alpha: float) -> Standing:
    control, best = tests.control, tests.order[0]
    compared = control is not None and i != control
    worse = control is not None and bool(tests.p_pair[i, control] <= alpha and tests.mean[i] < tests.mean[control])
    return Standing(
        method=method,
        value=mean.value,
        low=mean.low,
        high=mean.high,
        n=mean.n,
        beats_random=bool(tests.p_random[i] <= alpha) if compared else None,
        worse_than_random=worse if compared else None,
        best_group=i == best or bool(tests.p_best[i] > alpha),
        p_random=float(tests.p_random[i]) if compared else None,
        p_best=None if i == best else float(tests.p_best[i]),
    )


def _rows(values: Mapping[str, ArrayLike], better: str, alpha: float) -> Values:
    """The values as (K,n), checked."""
    if better not in get_args(Better):
        raise SpecError(f"better={better!r}: unknown direction; {nearest(str(better), get_args(Better))}")
    if not 0 < alpha < 1:
        raise SpecError(f"alpha={alpha}: must be between 0 and 1")
    shapes = {method: np.shape(row) for method, row in values.items()}
    if not shapes or len(set(shapes.values())) > 1 or any(len(shape) != 1 for shape in shapes.values()):
        raise InputError(f"values have shapes {shapes}; every method needs one value for each of the same n examples")
    return check_values([np.asarray(row, np.float64) for row in values.values()], list(values))
