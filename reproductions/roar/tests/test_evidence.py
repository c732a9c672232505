"""Intervals and comparisons of areas, on hand-made ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from assay.statistics.bootstrap import Interval
from assay.studies.roar.curves import Curves

from .. import records
from ..evidence import Leaks
from .hand_made import LEAK, LSTM, NAMES, PAPER, RECURSIVE, area, evidence, lstm


def test_a_measure_is_above_another_by_their_difference():
    """Draws that move together tell what intervals that meet cannot; with other seeds, only the intervals count."""
    low, high = area(0.30, half=0.05), area(0.32, half=0.05)
    high = replace(high, drawn=tuple(x + 0.02 for x in low.drawn))
    e = evidence(areas={(("SST", LSTM), RECURSIVE): {"attention": low, "gradient": high}})
    assert (e.ordered(high, low), e.ordered(low, high)) == (True, False)
    few = replace(low, seeds=low.seeds[:2])
    assert e.ordered(high, few) is None
    assert e.ordered(area(0.5), few)


def test_ways_of_counting_leaks():
    """As measured a leak changes nothing; as a bound an area is open above, a low point of few seeds on both sides."""
    measured = evidence(areas={(("SST", LSTM), RECURSIVE): lstm(*PAPER)})
    bound = measured.counting(Leaks.BOUND)
    high, low = area(0.4, seeds=2), area(0.1, seeds=2)
    for doubt in ({"leak": LEAK}, {"low": LEAK}):
        leaky = replace(low, **doubt)
        assert (measured.ordered(high, leaky), bound.ordered(high, low), bound.ordered(high, leaky)) == (
            True,
            True,
            None,
        )
        assert measured.apart(high, leaky).interval(0.95) == measured.apart(high, low).interval(0.95)
        assert bound.apart(high, leaky).interval(0.95).low == -np.inf
    assert bound.ordered(replace(high, leak=LEAK), low), "a leak makes an area lower, never higher"
    assert bound.ordered(replace(high, low=LEAK), low) is None, "a failed training makes it higher"
    assert bound.ordered(replace(area(0.4), low=LEAK), area(0.1)), (
        "of five seeds a failure is in the noise of trainings"
    )
    assert (bound.faithful(area(-0.1)), bound.faithful(area(-0.1, leak=LEAK)), bound.faithful(area(0.01))) == (
        False, None, None)  # fmt: skip
    assert bound.interval(replace(low, leak=LEAK)) == measured.interval(low), "what is printed is as measured"


def test_leaks_as_noise():
    """IG's seeds lie 20 points apart because one leaks: only if asked does it count for the noise of all."""
    spread = tuple(0.1 + 0.2 * np.array([-1, -0.5, 0, 0.5, 1]))
    leaky = replace(area(0.1), seeds=spread, leak=LEAK)
    babi = lstm(0.9, 0.7, 0.5, 0.1) | {"integrated gradients": leaky}
    e = evidence(areas={(("SST", LSTM), RECURSIVE): lstm(*PAPER), (("bAbI-1", LSTM), RECURSIVE): babi})
    assert e.noise.area == e.counting(Leaks.BOUND).noise.area == pytest.approx(0.0004)
    noisy = e.counting(Leaks.NOISE)
    assert noisy.noise.area == pytest.approx((7 * 0.0004 + np.var(spread, ddof=1)) / 8)
    assert e.interval(leaky) == noisy.interval(leaky), "its own spread is larger than either"


def test_few_seeds_are_widened_by_the_variance_of_trainings():
    """sd 2 points: z sqrt(variance over texts + that over trainings / seeds), written out; of five seeds too."""
    sst = {(("SST", LSTM), RECURSIVE): {"attention": area(0.3), "gradient": area(0.1)}}
    e, z = evidence(areas=sst), 1.959964
    assert e.noise.area == pytest.approx(0.0004)
    assert e.noise.gap == pytest.approx(0, abs=1e-12)  # these move together
    bootstrap = 0.02**2 * 0.8 / 5  # of five trainings their own variance, as if they were all
    texts = (0.02 / z) ** 2 - bootstrap
    assert e.interval(area(0.3)).high - 0.3 == pytest.approx(z * np.sqrt(texts + 0.0004 / 5), rel=1e-4)
    one = e.interval(area(0.3, seeds=1))
    assert one.high - 0.3 == pytest.approx(z * np.sqrt((0.02 / z) ** 2 + 0.0004), rel=1e-4)
    assert e.apart(area(0.36, seeds=1), area(0.3, seeds=1)).interval(0.95).low < 0
    assert e.apart(area(0.36), area(0.3)).interval(0.95).low > 0
    assert e.apart(area(0.36), area(0.3)).interval(0.99999).low < 0
    assert evidence().apart(area(0.9, seeds=1), area(0.1, seeds=1)).interval(0.95).low == -np.inf  # nothing is known
    assert "(1 seed)" in e.show("attention", area(0.3, seeds=1))
    assert "(1 seed, leaking)" in e.show("attention", area(0.3, seeds=1, leak=LEAK))


def test_what_few_seeds_put_into_their_interval_counts_once():
    """Three seeds 2 points apart: the bootstrap's part, var / n, is taken out, and the larger variance put in."""
    z, values = 1.959964, np.array([0.28, 0.30, 0.32])
    texts, drawn = 0.0001, values.var() / 3
    half = z * np.sqrt(texts + drawn)
    three = replace(area(0.3), both=Interval(0.3, 0.3 - half, 0.3 + half, 3), seeds=tuple(values))
    for spread, expected in ((0.03, 0.03**2), (0.01, values.var(ddof=1))):
        wide = [replace(area(v), seeds=tuple(v + spread * np.array([-1, 0, 1]))) for v in (0.1, 0.2)]
        e = evidence(areas={(("SST", LSTM), RECURSIVE): dict(zip(NAMES, wide, strict=False))})
        assert e.interval(three).high - 0.3 == pytest.approx(z * np.sqrt(texts + expected / 3), rel=1e-4)


def test_areas_of_other_trainings_are_independent():
    """Three seeds each, but not the same: their differences tell nothing."""
    one, other = (replace(area(v, seeds=3), trainings=t) for v, t in ((0.3, (0, 1, 2)), (0.36, (1, 2, 3))))
    e = evidence(areas={(("SST", LSTM), RECURSIVE): {"attention": one, "gradient": other}})
    assert e.noise.gap == np.inf
    assert e.noise.area == pytest.approx(np.var(one.seeds, ddof=1))
    variance = e.area(one).variance + e.area(other).variance
    assert e.gap(other, one).interval(0.95).high == pytest.approx(0.06 + 1.959964 * np.sqrt(variance))


def test_an_area_at_fifths_has_the_leak_that_its_points_step_over():
    flagged = records.with_leaks_of(replace(area(0.2, leak=LEAK), low=LEAK), area(0.1))
    assert (flagged.value, flagged.leak, flagged.low) == (0.1, LEAK, LEAK)
    assert records.with_leaks_of(area(0.2), area(0.1, leak=LEAK)).leak == LEAK


def test_models_are_compared_on_one_grid():
    """Points between steps of 20 % are left out."""
    fine = Curves("s", "g", "d", "b", "Recursive ROAR", True, [i / 10 for i in range(11)], np.zeros(3, int), {}, {
        "random": np.arange(11)[None, :, None].repeat(3, 2)})  # fmt: skip
    coarse = records.at_points(fine, records.FIFTHS)
    assert coarse.axis == records.FIFTHS
    assert coarse.predicted["random"][0, :, 0].tolist() == [0, 2, 4, 6, 8, 10]
