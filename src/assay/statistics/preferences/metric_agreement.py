"""Does what people prefer agree with what an automatic metric calls faithful?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from assay.statistics.bootstrap import Interval, Values, interval
from assay.statistics.power import SMALL
from assay.statistics.preferences.judgement import Judgements
from assay.statistics.preferences.verdict_words import with_bounds
from assay.statistics.ranks import rank_correlation


@dataclass(frozen=True, slots=True)
class MetricAgreement:
    """Spearman's correlation, over the methods of an example, of people's mean ranks and a metric; mean over examples.

    1: people prefer what the metric calls better; -1: the opposite; 0: no relation.
    """

    metric: str
    correlation: Interval

    @property
    def sentence(self) -> str:
        c = self.correlation
        if c.n == 0:
            return f"{self.metric}: no example has both judgements and values that differ between methods."
        words = "agrees with" if c.low > 0 else "contradicts" if c.high < 0 else None
        about = (
            f"What people prefer {words} {self.metric}"
            if words
            else f"No relation of what people prefer to {self.metric} can be shown"
        )
        few = f" Caution: {c.n} example{'s are' if c.n > 1 else ' is'} few." if c.n < SMALL else ""
        return f"{about} (mean rank correlation {with_bounds(c.value, c.low, c.high, '+.2f')}, n = {c.n}).{few}"


def metric_agreement(
    metric: str, judgements: Judgements, values: Mapping[str, Mapping[str, float]], *, higher_is_better: bool
) -> MetricAgreement:
    """values: by example and method, as the judgements name them; examples without values are left out."""
    sign = 1 if higher_is_better else -1
    found = []
    for number, example in enumerate(judgements.examples):
        ranks = mean_ranks(judgements.ranks[judgements.example == number])
        both = [
            (-ranks[i], sign * values[example][method])
            for i, method in enumerate(judgements.methods)
            if example in values and math.isfinite(values[example].get(method, math.nan)) and math.isfinite(ranks[i])
        ]
        if len({people for people, _ in both}) > 1 and len({machine for _, machine in both}) > 1:
            found.append(rank_correlation(*zip(*both, strict=True)))
    return MetricAgreement(metric, interval(found) if found else Interval(math.nan, math.nan, math.nan, 0))


def mean_ranks(ranks: Values) -> Values:
    """The mean rank of each method (N,K) -> (K,); NaN where it was not shown."""
    shown = np.isfinite(ranks)
    total = np.where(shown, ranks, 0.0).sum(0)
    means: Values = np.divide(total, shown.sum(0), out=np.full(ranks.shape[1], np.nan), where=shown.any(0))
    return means
