"""Verdicts on claims, by hand-made evidence for each of the outcomes."""

from __future__ import annotations

import numpy as np
import pytest

from assay import SpecError
from assay.statistics.bootstrap import Interval
from assay.statistics.claims import Count, Criterion, Outcome, Statement, Verdict, judge
from assay.statistics.quantities import Difference, Exact, Quantity

HOLDS, CONTRADICTED, UNDECIDED = Outcome.HOLDS, Outcome.CONTRADICTED, Outcome.UNDECIDED
ABOVE, ALIKE, ABOUT, BOUND = Criterion.above(0.05), Criterion.alike(0.1), Criterion.about(0.4, 0.1), Criterion(low=0.4)
NOT_ABOVE = Criterion.not_above(0.05)


@pytest.mark.parametrize(
    ("criterion", "low", "value", "high", "outcome"),
    [
        (ABOVE, 0.02, 0.10, 0.18, HOLDS),
        (ABOVE, 0.01, 0.03, 0.045, CONTRADICTED),  # significant, but too small to matter
        (ABOVE, 0.01, 0.04, 0.07, UNDECIDED),  # significant, but perhaps too small to matter
        (ABOVE, -0.02, 0.10, 0.22, UNDECIDED),
        (ABOVE, -0.20, -0.10, -0.01, CONTRADICTED),
        (ABOVE, 0.0, 0.0, 0.0, CONTRADICTED),
        (NOT_ABOVE, -0.2, -0.1, 0.04, HOLDS),
        (NOT_ABOVE, 0.01, 0.02, 0.03, HOLDS),  # significantly above, but too little to matter
        (NOT_ABOVE, -0.2, -0.1, 0.06, UNDECIDED),  # not significantly above is not "not above"
        (NOT_ABOVE, 0.06, 0.1, 0.14, CONTRADICTED),
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
        (4, 0, 0, [Outcome.NOT_TESTABLE] * 8, Verdict.REPRODUCED),
        (4, 0, 0, [Outcome.NOT_TESTABLE] * 9, Verdict.NOT_TESTABLE),  # too little of the claim was tested
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
        assert f"({holds} of {holds + contradicted + undecided} statements hold" in judgement.sentence
    for outcome in set(outcomes) - {HOLDS}:
        assert f"{outcomes.count(outcome)} {outcome}" in judgement.sentence


def test_an_undecided_claim_says_what_would_decide_it():
    """A mean of 0.15 with a margin of 0.05: the interval must leave out everything below 0."""
    values = np.random.default_rng(0).normal(size=40)
    judgement = judge([Statement("x", ABOVE, Quantity(values - values.mean() + 0.15))])
    bounds = judgement.findings[0].interval
    factor = int(np.ceil(((0.15 - bounds.low) / 0.15) ** 2))
    assert factor > 2
    assert f"about {factor} times as many examples" in judgement.sentence


@pytest.mark.parametrize(
    ("criterion", "value", "room"),
    [(ABOVE, 0.02, 0.03), (ALIKE, 0.13, 0.03), (ALIKE, -0.06, 0.04), (ABOUT, 0.45, 0.05)],
)
def test_the_interval_must_fit_into_the_room_on_the_side_that_decides(criterion, value, room):
    assert criterion.shortage(Interval(value, value - 0.3, value + 0.3, 20)) == pytest.approx(0.3 / room)


def test_a_value_on_the_border_cannot_be_decided_by_more_examples():
    values = np.array([-1.0, 1.2] * 20)  # mean 0.1, the border
    assert "more examples would not decide it" in judge([Statement("x", ALIKE, Quantity(values))]).sentence


def test_few_examples_widen_the_interval_to_that_of_student():
    """Ten normal values: BCa covers about 90 %, Student's t 95 %."""
    values = np.linspace(-1, 1, 10)
    bounds = Quantity(values).interval(0.95)
    assert (bounds.high - bounds.low) / 2 == pytest.approx(2.262 * values.std(ddof=1) / np.sqrt(10), rel=0.03)


def test_means_are_the_same_alone_and_among_others():
    rng = np.random.default_rng(0)
    quantities = [Quantity(rng.normal(size=n)) for n in (20, 30, 20)]
    together = judge([Statement("x", ABOVE, quantity) for quantity in quantities]).findings
    for quantity, finding in zip(quantities, together, strict=True):
        alone, shared = quantity.interval(1 - 0.05 / 3), finding.interval
        np.testing.assert_allclose([alone.value, alone.low, alone.high], [shared.value, shared.low, shared.high])


def test_the_difference_of_independent_means():
    """For symmetric intervals the standard errors add up as squares."""
    rng = np.random.default_rng(0)
    first, second = rng.normal(1, 1, 400), rng.normal(0, 2, 100)
    difference = Difference(Quantity(first, (1.0, 2.0)), Quantity(second, (0.5, 0.0)))
    bounds = difference.interval(0.95)
    error = np.sqrt(first.var(ddof=1) / 400 + second.var(ddof=1) / 100)
    assert bounds.value == pytest.approx(first.mean() - second.mean())
    assert bounds.high - bounds.low == pytest.approx(2 * 1.98 * error, rel=0.05)
    assert difference.runs == (0.5, 2.0)
    assert Difference(Quantity(first, (1.0,)), Quantity(second)).runs == ()


def test_how_many_statements_hold():
    """One surely holds, one surely does not, one has an allowed value and is undecided."""
    count = Count((statement(HOLDS), statement(CONTRADICTED), statement(UNDECIDED)))
    bounds = count.interval(0.95)
    assert (bounds.value, bounds.low, bounds.high) == (2, 1, 2)
    two, one = (judge([Statement("x", Criterion(k, k), count)]).findings[0].outcome for k in (2, 3))
    assert (two, one) == (UNDECIDED, CONTRADICTED)


def test_numbers_without_uncertainty_need_no_correction():
    quantity = Statement("x", ABOVE, Quantity(np.random.default_rng(0).normal(size=50)))
    alone = judge([quantity]).findings[0].interval
    assert judge([quantity, *[statement(HOLDS)] * 20]).findings[0].interval == alone


@pytest.mark.parametrize(
    ("criterion", "text"),
    [
        (ABOVE, "≥ 0.05 (margin 0.05)"),
        (ALIKE, "-0.1 to 0.1"),
        (NOT_ABOVE, "≤ 0.05"),
        (BOUND, "≥ 0.4"),
        (Criterion(0.4, 0.6, 0.05), "0.4 to 0.6 (margin 0.05)"),
    ],
)
def test_criteria_in_words(criterion, text):
    assert str(criterion) == text


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
