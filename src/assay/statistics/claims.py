"""Whether evidence bears out what a paper says: statements about one number each, and claims made of them.

A statement allows a range of values, with a margin below which a difference does not matter. Its interval decides:
it holds only if the interval rules out the opposite, it is contradicted only if the interval rules out all that it
allows, and otherwise it is undecided. "Not contradicted" is never counted as "holds".
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from assay.core.errors import SpecError
from assay.statistics.bootstrap import Interval, Statistic, Values, interval
from assay.statistics.estimates import Measured

ERROR = 0.05  # chance of a wrong outcome anywhere among the statements of a claim
LARGELY = 0.75  # share of statements that must hold for "largely reproduced"
TAIL = 20  # resamples beyond each end of an interval


class Outcome(StrEnum):
    HOLDS = "holds"
    CONTRADICTED = "contradicted"
    UNDECIDED = "undecided"
    NOT_RUN = "not run"
    NOT_TESTABLE = "not testable here"


class Verdict(StrEnum):
    REPRODUCED = "reproduced"
    LARGELY = "largely reproduced"
    CONTRADICTED = "contradicted"
    UNDECIDED = "undecided"
    NOT_TESTABLE = "not testable here"
    INCOMPLETE = "incomplete"


@dataclass(frozen=True)
class Criterion:
    """The values that a statement allows, [low, high]. Values within `margin` of them do not speak against it."""

    low: float = -math.inf
    high: float = math.inf
    margin: float = 0.0

    def __post_init__(self) -> None:
        if not (self.low <= self.high and 0 <= self.margin < math.inf):
            raise SpecError(f"{self}: low must not exceed high, and the margin must be a number from 0 up")

    @staticmethod
    def above(margin: float) -> Criterion:
        """A difference is positive, and large enough to matter."""
        return Criterion(low=margin, margin=margin)

    @staticmethod
    def alike(margin: float) -> Criterion:
        """A difference is too small to matter, in either direction."""
        return Criterion(-margin, margin)

    @staticmethod
    def about(value: float, tolerance: float) -> Criterion:
        return Criterion(value - tolerance, value + tolerance)

    def allows(self, value: float) -> bool:
        return self.low <= value <= self.high

    def judge(self, bounds: Interval, runs: Sequence[float] = ()) -> Outcome:
        """The outcome for an interval; the means of all trainings (`runs`) must agree with it."""
        if math.isnan(bounds.low) or math.isnan(bounds.high):
            return Outcome.UNDECIDED
        if self.allows(bounds.value) and self._rules_out_opposite(bounds.low, bounds.high):
            return Outcome.HOLDS if all(self._rules_out_opposite(r, r) for r in runs) else Outcome.UNDECIDED
        if bounds.high < self.low or bounds.low > self.high:
            return Outcome.UNDECIDED if any(self.allows(r) for r in runs) else Outcome.CONTRADICTED
        return Outcome.UNDECIDED

    def _rules_out_opposite(self, low: float, high: float) -> bool:
        return low >= self.low - self.margin and high <= self.high + self.margin

    def distance(self, value: float) -> float:
        """From a value to the nearest border that could decide the statement."""
        borders = (self.low, self.low - self.margin, self.high, self.high + self.margin)
        return min(abs(value - border) for border in borders if math.isfinite(border))


@dataclass(frozen=True)
class Quantity:
    """The number that a statement is about: a mean over examples, or another statistic of their values (n,)."""

    values: Values
    runs: tuple[float, ...] = ()  # the same number for each training, if there are several
    statistic: Statistic | None = None

    def interval(self, confidence: float) -> Interval:
        resamples = max(10_000, math.ceil(2 * TAIL / (1 - confidence)))
        return interval(self.values, statistic=self.statistic, confidence=confidence, resamples=resamples)


@dataclass(frozen=True)
class Exact:
    """A number without uncertainty, such as a count of passes."""

    value: float
    runs: tuple[float, ...] = ()

    def interval(self, confidence: float) -> Interval:
        return Interval(self.value, self.value, self.value, 1)


@dataclass(frozen=True)
class Statement:
    """One statement of a claim. Without a quantity it was not run, or `reason` says why it cannot be tested."""

    text: str
    criterion: Criterion
    quantity: Measured | None = None
    reason: str = ""


@dataclass(frozen=True)
class Finding:
    """A statement with its outcome and the interval that decided it."""

    statement: Statement
    outcome: Outcome
    interval: Interval | None = None


@dataclass(frozen=True)
class Judgement:
    """The verdict on a claim, with what each statement adds to it."""

    findings: tuple[Finding, ...]

    @property
    def counts(self) -> Counter[Outcome]:
        return Counter(finding.outcome for finding in self.findings)

    @property
    def tested(self) -> int:
        counts = self.counts
        return counts[Outcome.HOLDS] + counts[Outcome.CONTRADICTED] + counts[Outcome.UNDECIDED]

    @property
    def verdict(self) -> Verdict:
        """Of the tested statements: all hold, most hold, too many are contradicted, or too many are undecided."""
        counts, tested = self.counts, self.tested
        if counts[Outcome.NOT_RUN]:
            return Verdict.INCOMPLETE
        if not tested:
            return Verdict.NOT_TESTABLE
        if counts[Outcome.HOLDS] == tested:
            return Verdict.REPRODUCED
        if counts[Outcome.HOLDS] >= LARGELY * tested:
            return Verdict.LARGELY
        return Verdict.CONTRADICTED if counts[Outcome.CONTRADICTED] > (1 - LARGELY) * tested else Verdict.UNDECIDED

    @property
    def sentence(self) -> str:
        """The verdict with the share of statements that hold, and what would decide it."""
        words = f"{self.verdict} ({self.counts[Outcome.HOLDS]} of {self.tested} statements hold)"
        return f"{words}; {self._remedy()}" if self.verdict is Verdict.UNDECIDED else words

    @property
    def needed(self) -> float:
        """How many times as many examples would decide half of the undecided statements, were their values right."""
        open_ = [f for f in self.findings if f.outcome is Outcome.UNDECIDED and f.interval is not None]
        factors = sorted(_factor(f) for f in open_)
        return factors[(len(factors) - 1) // 2] if factors else math.inf

    def _remedy(self) -> str:
        if not math.isfinite(self.needed):
            return "more examples would not decide it: the values lie on the borders, or the trainings disagree"
        return f"about {math.ceil(self.needed):,} times as many examples would decide half of the open statements"


def judge(statements: Sequence[Statement], error: float = ERROR) -> Judgement:
    """Judge a claim. Its intervals hold together with confidence 1 - error (Bonferroni over what was tested)."""
    tested = sum(statement.quantity is not None for statement in statements)
    confidence = 1 - error / max(1, tested)
    return Judgement(tuple(_finding(statement, confidence) for statement in statements))


def _finding(statement: Statement, confidence: float) -> Finding:
    if statement.quantity is None:
        return Finding(statement, Outcome.NOT_TESTABLE if statement.reason else Outcome.NOT_RUN)
    bounds = statement.quantity.interval(confidence)
    return Finding(statement, statement.criterion.judge(bounds, statement.quantity.runs), bounds)


def _factor(finding: Finding) -> float:
    """The width of an interval shrinks with the root of the number of examples."""
    bounds, criterion = finding.interval, finding.statement.criterion
    assert bounds is not None
    distance = criterion.distance(bounds.value)
    width = np.nanmax([bounds.high - bounds.value, bounds.value - bounds.low, 0.0])
    return float((width / distance) ** 2) if distance > 0 and width > distance else math.inf
