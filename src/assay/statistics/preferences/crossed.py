"""Errors of means over participants and examples at once: both are samples, and judgements share them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from assay.statistics.bootstrap import Values

MOST = 1000  # participants; above that, more participants are no advice


@dataclass(frozen=True, slots=True)
class CrossedError:
    """The variance of an estimate if other participants judged other examples, with its degrees of freedom.

    `df` is 0 if there is one participant or one example only: nothing can then be said about others.
    """

    variance: float
    df: float
    between_participants: float  # variance of the estimate per participant, were there one; and so on
    between_examples: float
    residual: float
    judgements: float  # per participant
    participants: int

    def p(self, estimate: float) -> float:
        """Two-sided p-value of estimate = 0; never below that of a sign test on which all participants agree.

        A few people with strong opinions agree by chance, and their spread is then small: without this bound, a third
        of null studies with four methods and three such people spoke of people.
        """
        if self.df <= 0 or estimate == 0:
            return 1.0
        by_spread = 2 * stdtr(self.df, -abs(estimate) / math.sqrt(self.variance)) if self.variance > 0 else 0.0
        return float(max(by_spread, all_alike(self.participants)))

    def half_width(self, confidence: float = 0.95) -> float:
        """Half the width of the interval; NaN where nothing is known about other participants or examples.

        Nor is it where all agree: that others may not is no variance of those who were asked.
        """
        if self.df <= 0 or self.variance == 0:
            return math.nan
        return float(stdtrit(self.df, (1 + confidence) / 2)) * math.sqrt(self.variance)

    def participants_needed(self, estimate: float, *, alpha: float, power: float = 0.8) -> int | None:
        """The fewest participants with which an effect of this size is shown with this power; None above 1,000.

        Each gives as many judgements as now, of as many examples as now: δ² >= (t(1-α/2) + t(power))² variance(n).
        None, too, with one participant, who shows no spread, and with one example, for which nobody can make up.
        """
        if self.df <= 0:
            return None
        for n in range(3, MOST + 1):
            variance = self.between_participants / n + self.between_examples + self.residual / (n * self.judgements)
            reach = float(stdtrit(n - 1, 1 - alpha / 2) + stdtrit(n - 1, power))
            if estimate and estimate**2 >= reach**2 * variance and all_alike(n) <= alpha:
                return n
        return None


def all_alike(participants: int) -> float:
    """The chance that participants without a preference all lean to the same side: 2 / 2^n."""
    return 2.0 ** (1 - participants)


def crossed_error(influence: Values, participant: NDArray[np.int64], example: NDArray[np.int64]) -> CrossedError:
    """The error of an estimate whose judgements pull it by `influence` (N,), e.g. (x - mean) / N for a mean.

    variance = V_participants + V_examples - V_judgements, V the sum of squared sums of influence over each group
    (Cameron, Gelbach & Miller 2011; close to the quasi-F of Clark 1973 where all judge all), at least the larger of
    the first two. Degrees of freedom: one less than participants or examples, whichever are fewer, since the variance
    between three participants is hardly known (Satterthwaite's, from the estimated parts, are too many: with three
    participants 12 % of null studies spoke of people). Weakness: few participants show little.
    """
    by_participant, by_example = np.bincount(participant, influence), np.bincount(example, influence)
    n, p, e = len(influence), len(np.unique(participant)), len(np.unique(example))
    if p < 2 or e < 2:
        return CrossedError(math.nan, 0.0, 0.0, 0.0, 0.0, n / p, p)
    squares = float((influence**2).sum())
    v_participants = float((by_participant**2).sum()) * p / (p - 1)
    v_examples = float((by_example**2).sum()) * e / (e - 1)
    v_judgements = squares * n / (n - 1)
    variance = max(v_participants + v_examples - v_judgements, v_participants, v_examples)
    participants, examples = max(0.0, v_participants - v_judgements), max(0.0, v_examples - v_judgements)
    return CrossedError(
        variance,
        min(p, e) - 1,
        participants * p,
        examples,
        v_judgements * n,
        n / p,
        p,
    )
