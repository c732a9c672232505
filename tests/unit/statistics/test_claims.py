"""Verdicts on claims, by hand-made evidence for each of the outcomes."""

from __future__ import annotations

import numpy as np
import pytest

from assay import SpecError
from assay.statistics.bootstrap import Interval
from assay.statistics.claims import Criterion, Exact, Outcome, Quantity, Statement, Verdict, judge

HOLDS, CONTRADICTED, UNDECIDED = Outcome.HOLDS, Outcome.CONTRADICTED, Outcome.UNDECIDED
ABOVE, ALIKE, ABOUT, BOUND = Criterion.above(0.05), Criterion.alike(0.1), Criterion.about(0.4, 0.1), Criterion(low=0.4)


@pytest.mark.parametrize(
    ("criterion", "low", "value", "high", "outcome"),
    [
        (ABOVE, 0.02, 0.10, 0.18, HOLDS),
        (ABOVE, 0.01, 0.03, 0.045, CONTRADICTED),  # significant, but too small to matter
        (ABOVE, 0.01, 0.04, 0.07, UNDECIDED),  # significant, but perhaps too small to matter
        (ABOVE, -0.02, 0.10, 0.22, UNDECIDED),
        (ABOVE, -0.20, -0.10, -0.01, CONTRADICTED),
        (ABOVE, 0.0, 0.0, 0.0, CONTRADICTED),
        (ALIKE, -0.09, 0.0, 0.09, HOLDS),
        (ALIKE, -0.2, 0.0, 0.2, UNDECIDED),  # not different is not alike
        (ALIKE, 0.11, 0.2, 0.3, CONTRADICTED),
        (ABOUT, 0.31, 0.4, 0.49, HOLDS),
        (ABOUT, 0.2, 0.4, 0.6, UNDECIDED),
        (ABOUT, 0.51, 0.6, 0.7, CONTRADICTED),
        (BOUND, 0.4, 0.5, 0.6, HOLDS),
        (BOUND, 0.39, 0.5, 0.6, UNDECIDED),
        (BOUND, 0.1, 0.2, 0.39, CONTRADICTED),
        (BOUND, np.nan, 0.9, np.nan, UNDECIDED),  # one example has no interval
    ],
)
def test_outcomes_of_a_statement(criterion, low, value, high, outcome):
    assert criterion.judge(Interval(value, low, high, 20)) is outcome


def test_trainings_that_disagree_leave_a_statement_undecided():
    clear = Interval(0.2, 0.1, 0.3, 20)
    assert ABOVE.judge(clear, (0.3, 0.2, 0.01)) is HOLDS  # weaker in one, but none speaks against it
    assert ABOVE.judge(clear, (0.5, 0.2, -0.1)) is UNDECIDED
    below = Interval(-0.2, -0.3, -0.1, 20)
    assert ABOVE.judge(below, (-0.3, -0.1)) is CONTRADICTED
    assert ABOVE.judge(below, (-0.5, 0.1)) is UNDECIDED


def statement(outcome):
    """A statement that comes out as wanted."""
    values = {HOLDS: 0.5, CONTRADICTED: -0.5}
    if outcome in values:
        return Statement("x", ABOVE, Exact(values[outcome]))
    if outcome is UNDECIDED:
        return Statement("x", ABOVE, Quantity(np.array([-1.0, 1.2] * 10)))
    return Statement("x", ABOVE, None, "no model here" if outcome is Outcome.NOT_TESTABLE else "")


@pytest.mark.parametrize(
    ("holds", "contradicted", "undecided", "more", "verdict"),
    [
        (4, 0, 0, [], Verdict.REPRODUCED),
        (4, 0, 0, [Outcome.NOT_TESTABLE], Verdict.REPRODUCED),
        (3, 1, 0, [], Verdict.LARGELY),
        (3, 0, 1, [], Verdict.LARGELY),
        (2, 1, 1, [], Verdict.UNDECIDED),
        (2, 2, 0, [], Verdict.CONTRADICTED),
        (0, 4, 0, [], Verdict.CONTRADICTED),
        (0, 0, 4, [], Verdict.UNDECIDED),
        (0, 0, 0, [Outcome.NOT_TESTABLE], Verdict.NOT_TESTABLE),
        (4, 0, 0, [Outcome.NOT_RUN], Verdict.INCOMPLETE),
    ],
)
def test_verdicts_of_a_claim(holds, contradicted, undecided, more, verdict):
    outcomes = [HOLDS] * holds + [CONTRADICTED] * contradicted + [UNDECIDED] * undecided + more
    judgement = judge([statement(outcome) for outcome in outcomes])
    assert [finding.outcome for finding in judgement.findings] == outcomes
    assert judgement.verdict is verdict
    if judgement.tested:
        assert f"({holds} of {holds + contradicted + undecided} statements hold)" in judgement.sentence


def test_an_undecided_claim_says_what_would_decide_it():
    """A mean of 0.15, 0.1 from the border at 0.05: the interval must become narrower than 0.1 on each side."""
    values = np.random.default_rng(0).normal(size=40)
    judgement = judge([Statement("x", ABOVE, Quantity(values - values.mean() + 0.15))])
    bounds = judgement.findings[0].interval
    factor = int(np.ceil((max(0.15 - bounds.low, bounds.high - 0.15) / 0.1) ** 2))
    assert factor > 2
    assert f"about {factor} times as many examples" in judgement.sentence


def test_a_value_on_the_border_cannot_be_decided_by_more_examples():
    values = np.array([-1.0, 1.1] * 20)  # mean 0.05, the border
    assert "more examples would not decide it" in judge([Statement("x", ABOVE, Quantity(values))]).sentence


@pytest.mark.simulation
def test_the_correction_keeps_the_error_over_all_statements():
    """Twenty statements whose true value lies on the border: some outcome is wrong in at most 5 % of claims."""
    rng = np.random.default_rng(1)
    wrong = 0
    for _ in range(40):
        rows = rng.normal(size=(20, 100))
        statements = [Statement("x", Criterion(low=0.0), Quantity(row)) for row in rows]
        wrong += any(finding.outcome is not UNDECIDED for finding in judge(statements).findings)
    assert wrong <= 7  # 40 tries at 5 %: more than 7 has probability 0.0005


def test_intervals_are_wider_for_more_statements():
    quantity = Quantity(np.random.default_rng(0).normal(size=50))
    one = judge([Statement("x", ABOVE, quantity)]).findings[0].interval
    many = judge([Statement("x", ABOVE, quantity)] * 20).findings[0].interval
    assert many.low < one.low
    assert many.high > one.high


@pytest.mark.parametrize(
    "bad", [{"low": 1, "high": 0}, {"margin": -1}, {"margin": float("nan")}, {"low": float("nan")}]
)
def test_criteria_that_make_no_sense(bad):
    with pytest.raises(SpecError, match="low must not exceed high"):
        Criterion(**bad)
