"""Compare methods on one metric: the best method, the methods not significantly different from it, and random."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
    best_group: bool  # the best method, or not clearly different from it
    p_random: float | None  # one-sided, against the control
    p_best: float | None  # two-sided, against the best method; None for the best itself
    by_size: float | None = None  # mean if the signs of its scores are ignored; None: not computed


@dataclass(frozen=True, slots=True)
class Comparison:
    """All methods on one metric, best first."""

    standings: tuple[Standing, ...]
    better: Better
    control: str | None  # None: no control among the methods
    alpha: float
    n: int
    detectable: float | None  # mean difference that n examples detect with 80 % power; None with one method
    margin: float = 0.0  # smaller differences do not matter: a clear difference is significant and at least this
    unranked: str = ""  # why no method is called best, whatever the tests say

    def __getitem__(self, method: str) -> Standing:
        for standing in self.standings:
            if standing.method == method:
                return standing
        raise InputError(f"unknown method {method!r}; {nearest(method, [s.method for s in self.standings])}")

    @property
    def best(self) -> Standing:
        return self.standings[0]

    @property
    def methods(self) -> tuple[Standing, ...]:
        """Without the control."""
        return tuple(s for s in self.standings if s.method != self.control)

    @property
    def largest_difference(self) -> float:
        """Between any two means."""
        return abs(self.standings[0].value - self.standings[-1].value)

    @property
    def matters(self) -> bool:
        """Whether any two methods, or a method and the control, differ enough to matter."""
        return len(self.standings) == 1 or self.largest_difference >= self.margin

    def gain(self, method: str) -> float | None:
        """How much better the mean is than the control's; negative: worse; None for the control or without one."""
        if self.control is None or method == self.control:
            return None
        difference = self[method].value - self[self.control].value
        return difference if self.better == "higher" else -difference

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
    margin: float = 0.0,
    by_size: Mapping[str, ArrayLike] | None = None,  # of the signed methods: (n,) if only the sizes of scores count
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

    A difference of means below `margin` never counts, however significant: such a method joins the best group, and
    neither beats random nor is worse. by_size: a second reading of signed methods. A signed and an unsigned method then
    differ only if they do in both readings, in the same direction (the larger p-value counts: an intersection-union
    test, Berger 1982), so that neither wins by having, or not having, a sign.

    Weakness: no significant difference does not mean no difference; see `detectable`.
    """
    if not 0 <= margin < np.inf:
        raise SpecError(f"margin={margin}: give the smallest difference that matters, 0 or more")
    rows = _rows(values, better, alpha)
    names = list(values)
    index = names.index(control) if control in names else None
    sizes = {name: np.asarray(row, np.float64) for name, row in (by_size or {}).items()}
    second = np.array([sizes.get(name, row) for name, row in zip(names, rows, strict=True)])
    mixed = _mixed([name in sizes for name in names], index)
    sign = 1 if better == "higher" else -1
    tests = _test(sign * rows, sign * second, mixed, index, alpha, margin, permutations, seed)
    means = intervals(rows, confidence=1 - alpha, kind=kind, resamples=resamples, seed=seed)
    return Comparison(
        standings=tuple(
            replace(_standing(names[i], means[i], tests, i, alpha), by_size=_mean(sizes.get(names[i])))
            for i in tests.order
        ),
        better=better,
        control=None if index is None else control,
        alpha=alpha,
        n=rows.shape[1],
        detectable=tests.detectable,
        margin=margin,
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
    margin: float

    @property
    def p_best(self) -> Values:
        """Against the best, (K,); for the control, the one-sided test of the best against it."""
        best = self.order[0]
        out: Values = self.p_pair[best].copy()
        if self.control is not None and self.control != best:
            out[self.control] = self.p_random[best]
        return out


def _mixed(signed: Sequence[bool], control: int | None) -> NDArray[np.bool_]:
    """(K,K) the pairs of a signed and an unsigned method, without the control."""
    kinds = np.array(signed)
    out = kinds[:, None] != kinds
    if control is not None:
        out[control], out[:, control] = False, False
    return np.asarray(out & kinds.any(), bool)


def _mean(values: Values | None) -> float | None:
    return None if values is None else float(values.mean())


def _test(
    rows: Values,
    second_reading: Values,
    mixed: NDArray[np.bool_],
    control: int | None,
    alpha: float,
    margin: float,
    permutations: int,
    seed: int,
) -> _Tests:
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
        p = sign_flips(rows[first] - rows[second], permutations=enough, seed=seed)
        both = np.flatnonzero(mixed[first, second])
        if len(both):
            again = (second_reading[first] - second_reading[second])[both]
            same = again.mean(1) * (mean[first] - mean[second])[both] > 0
            p_again = sign_flips(again, permutations=enough, seed=seed)
            p[both] = np.where(same, np.maximum(p[both], p_again), 1.0)
        p_pair[first, second] = holm(p)
        p_pair[second, first] = p_pair[first, second]
    found = _detectable(rows, order, alpha / max(1, len(first)))
    return _Tests(mean, order, control, p_random, p_pair, found, margin)


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
    ahead = float(tests.mean[i] - tests.mean[control]) if compared else 0.0  # of the control
    behind = float(tests.mean[best] - tests.mean[i])
    worse = compared and bool(tests.p_pair[i, control] <= alpha and -ahead > 0 and -ahead >= tests.margin)
    return Standing(
        method=method,
        value=mean.value,
        low=mean.low,
        high=mean.high,
        n=mean.n,
        beats_random=bool(tests.p_random[i] <= alpha and ahead >= tests.margin) if compared else None,
        worse_than_random=worse if compared else None,
        best_group=i == best or bool(tests.p_best[i] > alpha) or behind < tests.margin,
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
