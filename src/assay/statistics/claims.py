"""Whether evidence bears out what a paper says: statements about one number each, and claims made of them.

A statement allows a range of values, with a margin below which a difference does not matter. Its interval decides:
it holds only if the interval rules out the opposite, it is contradicted only if the interval rules out all that it
allows, and otherwise it is undecided. "Not contradicted" is never counted as "holds".
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from assay.core.errors import SpecError
from assay.statistics.bootstrap import Interval
from assay.statistics.estimates import Measured
from assay.statistics.quantities import Exact, Quantity, mean_intervals

ERROR = 0.05  # chance of a wrong outcome anywhere among the statements of a claim
LARGELY = 0.75  # share of tested statements that must hold for "largely reproduced"
TESTABLE = 1 / 3  # share of statements that must be testable for a verdict on the claim


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
            raise SpecError(f"{self!r}: low must not exceed high, and the margin must be a number from 0 up")

    @staticmethod
    def above(margin: float) -> Criterion:
        """A difference is positive, and large enough to matter."""
        return Criterion(low=margin, margin=margin)

    @staticmethod
    def not_above(margin: float) -> Criterion:
        """A difference is negative, or too small to matter."""
        return Criterion(high=margin)

    @staticmethod
    def alike(margin: float) -> Criterion:
        """A difference is too small to matter, in either direction."""
        return Criterion(-margin, margin)

    @staticmethod
    def about(value: float, tolerance: float) -> Criterion:
        return Criterion(value - tolerance, value + tolerance)

    def __str__(self) -> str:
        """The allowed values, as shown beside a statement."""
        margin = f" (margin {self.margin:g})" if self.margin else ""
        if math.isinf(self.low):
            return f"≤ {self.high:g}{margin}"
        return f"≥ {self.low:g}{margin}" if math.isinf(self.high) else f"{self.low:g} to {self.high:g}{margin}"

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

    def shortage(self, bounds: Interval) -> float:
        """How many times narrower the interval must become around its value for an outcome; at most 1: not at all."""
        value, below, above = bounds.value, bounds.value - bounds.low, bounds.high - bounds.value
        if value < self.low:
            return _ratio(above, self.low - value)
        if value > self.high:
            return _ratio(below, value - self.high)
        return max(_ratio(below, value - self.low + self.margin), _ratio(above, self.high + self.margin - value))


def _ratio(width: float, room: float) -> float:
    return width / room if room > 0 else math.inf if width > 0 else 0.0


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
        if not tested or tested < TESTABLE * len(self.findings):
            return Verdict.NOT_TESTABLE
        if counts[Outcome.HOLDS] == tested:
            return Verdict.REPRODUCED
        if counts[Outcome.HOLDS] >= LARGELY * tested:
            return Verdict.LARGELY
        return Verdict.CONTRADICTED if counts[Outcome.CONTRADICTED] > (1 - LARGELY) * tested else Verdict.UNDECIDED

    @property
    def share(self) -> str:
        """How many of the tested statements hold, and what became of the others."""
        counts = self.counts
        others = (Outcome.CONTRADICTED, Outcome.UNDECIDED, Outcome.NOT_TESTABLE, Outcome.NOT_RUN)
        parts = [f"{counts[Outcome.HOLDS]} of {self.tested} statements hold"] if self.tested else []
        return ", ".join([*parts, *(f"{counts[outcome]} {outcome}" for outcome in others if counts[outcome])])

    @property
    def sentence(self) -> str:
        """The verdict with the share of statements that hold, and what would decide it."""
        words = f"{self.verdict} ({self.share})" if self.findings else str(self.verdict)
        return f"{words}; {self.remedy}" if self.verdict is Verdict.UNDECIDED else words

    @property
    def needed(self) -> float:
        """How many times as many examples would decide half of the undecided statements, were their values right."""
        open_ = [f for f in self.findings if f.outcome is Outcome.UNDECIDED and f.interval is not None]
        factors = sorted(_factor(f) for f in open_)
        return factors[(len(factors) - 1) // 2] if factors else math.inf

    @property
    def remedy(self) -> str:
        """What would decide the claim."""
        if not math.isfinite(self.needed):
            return "more examples would not decide it: the values lie on the borders, or the trainings disagree"
        return f"about {math.ceil(self.needed):,} times as many examples would decide half of the open statements"


def judge(statements: Sequence[Statement], error: float = ERROR) -> Judgement:
    """Judge a claim. Its intervals hold together with confidence 1 - error (Bonferroni over what is uncertain)."""
    quantities = [statement.quantity for statement in statements]
    uncertain = sum(quantity is not None and not isinstance(quantity, Exact) for quantity in quantities)
    bounds = _intervals(quantities, 1 - error / max(1, uncertain))
    return Judgement(tuple(map(_finding, statements, bounds)))


def _intervals(quantities: Sequence[Measured | None], confidence: float) -> list[Interval | None]:
    """The interval of each quantity; means over equally many examples share their resamples."""
    out: list[Interval | None] = [None] * len(quantities)
    plain: defaultdict[int, list[int]] = defaultdict(list)
    for i, quantity in enumerate(quantities):
        if isinstance(quantity, Quantity) and quantity.statistic is None:
            plain[len(quantity.values)].append(i)
        elif quantity is not None:
            out[i] = quantity.interval(confidence)
    for places in plain.values():
        rows = [quantity.values for i in places if isinstance(quantity := quantities[i], Quantity)]
        for i, bounds in zip(places, mean_intervals(rows, confidence), strict=True):
            out[i] = bounds
    return out


def _finding(statement: Statement, bounds: Interval | None) -> Finding:
    if statement.quantity is None or bounds is None:
        return Finding(statement, Outcome.NOT_TESTABLE if statement.reason else Outcome.NOT_RUN)
    return Finding(statement, statement.criterion.judge(bounds, statement.quantity.runs), bounds)


def _factor(finding: Finding) -> float:
    """Times as many examples; the width of an interval shrinks with their root. Infinite if the trainings disagree."""
    assert finding.interval is not None
    shortage = finding.statement.criterion.shortage(finding.interval)
    return shortage**2 if shortage > 1 else math.inf


@dataclass(frozen=True)
class Count:
    """How many of some statements, all of which were run, hold: from those that surely do to those that may."""

    statements: tuple[Statement, ...]
    runs: tuple[float, ...] = ()

    def interval(self, confidence: float) -> Interval:
        findings = judge(self.statements, 1 - confidence).findings
        counts = Counter(finding.outcome for finding in findings)
        value = sum(f.interval is not None and f.statement.criterion.allows(f.interval.value) for f in findings)
        return Interval(value, counts[Outcome.HOLDS], len(findings) - counts[Outcome.CONTRADICTED], len(findings))
