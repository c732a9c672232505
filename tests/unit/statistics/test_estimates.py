"""Estimates and extremes, against closed forms and by how often their intervals are right."""

from __future__ import annotations

import math

import numpy as np
import pytest

from assay.statistics.claims import Criterion, Exact, Outcome, Statement, Verdict, judge
from assay.statistics.estimates import Estimate, Largest, Smallest


def test_an_estimate_has_a_normal_interval():
    i = Estimate(0.5, 0.04).interval(0.95)
    assert (i.value, i.low, i.high) == (0.5, pytest.approx(0.5 - 1.959964 * 0.2), pytest.approx(0.5 + 1.959964 * 0.2))


def test_a_value_that_is_too_low_has_no_upper_bound():
    low, high = Estimate(0.5, 0.04, too_low=True), Estimate(0.5, 0.04, too_high=True)
    assert low.interval(0.95).high == math.inf
    assert math.isfinite(low.interval(0.95).low)
    assert high.interval(0.95).low == -math.inf
    assert (-low).interval(0.95).low == -math.inf, "the negative of what is too low is too high"
    gap = Estimate(0.9, 0.01) - low  # a bound that is subtracted bounds from above
    assert gap.interval(0.95).low == -math.inf
    assert gap.interval(0.95).high == pytest.approx(0.4 + 1.959964 * math.sqrt(0.05))


def test_the_size_of_a_difference_is_positive():
    i = Estimate(-0.5, 0.01).size.interval(0.95)
    assert (i.value, i.low) == (0.5, pytest.approx(0.5 - 1.959964 * 0.1))
    assert Estimate(0.5, 0.01).size.value == 0.5


def test_extremes_bound_what_they_name():
    parts = [Estimate(0.1, 0.0001), Estimate(0.4, 0.01), Estimate(-0.2, 0.0)]
    z = 2.3939798  # of 1 - 0.05 / 3, two-sided
    largest, smallest = Largest(parts).interval(0.95), Smallest(parts).interval(0.95)
    assert (largest.value, smallest.value) == (0.4, -0.2)
    assert largest.low == pytest.approx(0.4 - z * 0.1, rel=1e-6)
    assert largest.high == pytest.approx(0.4 + z * 0.1, rel=1e-6)
    assert (smallest.low, smallest.high) == (-0.2, -0.2)
    assert Largest([Exact(0.1), Exact(0.3)]).interval(0.95).low == 0.3
    assert Largest(parts, among=30).interval(0.95).low < largest.low, "chosen among more"
    assert math.isnan(Smallest([Estimate(math.nan, math.nan), Estimate(0, 1)]).interval(0.95).low)


@pytest.mark.parametrize(("extreme", "truth"), [(Largest, max), (Smallest, min)])
def test_intervals_of_extremes_are_right_often_enough(extreme, truth):
    """The extreme of true values lies inside in at least 95 % of 400 repetitions, with the worst case of equal ones."""
    rng, inside = np.random.default_rng(0), 0
    for repetition in range(400):
        true = np.zeros(5) if repetition % 2 else rng.normal(0, 1, 5)
        i = extreme([Estimate(v, 1.0) for v in rng.normal(true, 1)]).interval(0.95)
        inside += i.low <= truth(true) <= i.high
    assert inside / 400 >= 0.95


def test_a_claim_of_estimates():
    above = Criterion.above(0.02)
    holds = Statement("x", above, Largest([Estimate(0.0, 0.01), Estimate(0.5, 0.01)]))
    opened = Statement("x", above, Estimate(0.5, 0.01, too_high=True))
    judged = judge([holds, opened])
    assert [f.outcome for f in judged.findings] == [Outcome.HOLDS, Outcome.UNDECIDED]
    assert judged.verdict is Verdict.UNDECIDED
    assert judged.needed == math.inf, "no number of runs closes an open end"
    wide = judge([Statement("x", above, Estimate(0.1, 0.01))])  # 1.96 x 0.1 to where the opposite begins, at 0
    assert wide.needed == pytest.approx((0.1959964 / 0.1) ** 2)
