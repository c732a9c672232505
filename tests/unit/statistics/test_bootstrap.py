"""What an interval is at the edges: one value, equal values, bad values; seeds, chunks, shared resamples."""

from __future__ import annotations

import math

import numpy as np
import pytest

from assay import AssayError
from assay.core.errors import InputError, SpecError
from assay.statistics import bootstrap
from assay.statistics.bootstrap import Interval, interval, intervals

VALUES = np.random.default_rng(0).exponential(size=40)


def test_one_value_says_nothing_about_others():
    result = interval([0.7])
    assert (result.value, result.n) == (0.7, 1)
    assert math.isnan(result.low)
    assert math.isnan(result.high)


@pytest.mark.parametrize("kind", ["bca", "percentile"])
@pytest.mark.parametrize("value", [0.1, 0.0, -3.3])
def test_equal_values_give_a_width_of_exactly_zero(value, kind):
    assert interval([value] * 7, kind=kind) == Interval(value, value, value, 7)
    assert interval([value] * 7, kind=kind, statistic=lambda x: np.median(x, -1)) == Interval(value, value, value, 7)


def test_the_seed_alone_decides():
    assert interval(VALUES, seed=3) == interval(VALUES.tolist(), seed=3)
    assert interval(VALUES, seed=3) != interval(VALUES, seed=4)


def test_known_values():
    """Reports hold these numbers: they must never change."""
    result = interval([0.2, 0.9, 0.4, 0.5, 0.1, 0.8], seed=1)
    assert (result.value, result.low, result.high) == pytest.approx((29 / 60, 16 / 60, 43 / 60), abs=1e-9)


@pytest.mark.parametrize("statistic", [None, lambda x: np.median(x, -1)])
def test_chunks_change_nothing(monkeypatch, statistic):
    whole = interval(VALUES, statistic=statistic, resamples=999)
    monkeypatch.setattr(bootstrap, "CHUNK", 7 * 40)
    parts = interval(VALUES, statistic=statistic, resamples=999)
    assert (parts.low, parts.high) == pytest.approx((whole.low, whole.high), rel=1e-12)


def test_rows_share_their_resamples():
    """Each row as if alone; and two methods that differ by a constant have intervals that differ by it."""
    result = intervals([VALUES, VALUES + 5, VALUES[::-1]], resamples=2000)
    alone = interval(VALUES[::-1], resamples=2000)
    assert (result[2].low, result[2].high) == pytest.approx((alone.low, alone.high), rel=1e-12)
    assert (result[1].low - 5, result[1].high - 5) == pytest.approx((result[0].low, result[0].high), rel=1e-9)


def test_a_statistic_is_what_is_asked():
    mean = interval(VALUES, resamples=2000)
    same = interval(VALUES, resamples=2000, statistic=lambda x: x.mean(-1))
    assert (same.value, same.low, same.high) == pytest.approx((mean.value, mean.low, mean.high), rel=1e-9)
    largest = interval(VALUES, statistic=lambda x: x.max(-1))
    assert largest.high == largest.value == VALUES.max()


def test_all_draws_on_one_side_fall_back_to_percentile():
    """The maximum never exceeds itself; the sum with a bonus for seeing all n values is never reached: z0 = -∞."""
    bonus = lambda x: x.mean(-1) + 9.0 * (np.diff(np.sort(x, -1), axis=-1).min(-1) > 0)  # noqa: E731
    bca, percentile = (interval(VALUES, statistic=bonus, kind=kind, resamples=500) for kind in ("bca", "percentile"))
    assert bca == percentile
    assert bca.high < bca.value


def test_more_confidence_is_wider():
    narrow, wide = interval(VALUES, confidence=0.5), interval(VALUES, confidence=0.99)
    assert wide.low < narrow.low < narrow.value < narrow.high < wide.high


@pytest.mark.parametrize("kind", ["bca", "percentile"])
def test_mirrored_values_have_the_mirrored_interval(kind):
    result, mirrored = interval(VALUES, kind=kind), interval(-VALUES, kind=kind)
    assert (-mirrored.high, -mirrored.low) == pytest.approx((result.low, result.high), rel=1e-3)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_that_are_no_numbers_are_refused(bad):
    with pytest.raises(InputError, match=r"2 of 4 values are NaN or infinite, the first at example 1; leave out"):
        interval([1.0, bad, 2.0, bad])
    with pytest.raises(InputError, match="1 of 4 values are NaN or infinite, the first at row 1, example 0"):
        intervals([[1.0, 2.0], [bad, 2.0]])


@pytest.mark.parametrize("values", [[], 3.0, [[1.0, 2.0]]])
def test_anything_but_one_value_per_example_is_refused(values):
    with pytest.raises(InputError, match="values have shape"):
        interval(values)


def test_a_statistic_that_fails_is_refused():
    def broken(x):
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(x.max(-1) - x.min(-1))

    with pytest.raises(InputError, match="not finite on some resamples"):
        interval([1.0, 2.0], statistic=broken)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "bcaa"}, "unknown interval 'bcaa'; did you mean 'bca'"),
        ({"confidence": 1.0}, "confidence=1.0"),
        ({"confidence": 95}, "confidence=95"),
        ({"resamples": 0}, "resamples=0"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(SpecError, match=message) as caught:
        interval([1.0, 2.0], **options)
    assert isinstance(caught.value, AssayError)


def test_ends_lie_on_the_means_that_draws_can_have():
    """Of 0 and 1, n = 10: tenths exactly, not 0.30000000000000004, or rounding would miss a true mean of 0.3."""
    for ones in range(1, 10):
        for seed in range(5):
            result = interval([1.0] * ones + [0.0] * (10 - ones), seed=seed, kind="percentile")
            assert {result.low, result.high} <= {tenths / 10 for tenths in range(11)}
