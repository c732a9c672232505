"""The detectable difference on numbers worked by hand; by simulation in tests/oracles/test_statistics.py."""

from __future__ import annotations

import math

import pytest

from assay.statistics.power import detectable


def test_by_hand():
    """Many examples: (1.9600 + 0.8416) sd / √n; ten: t quantiles with 9 degrees of freedom, 2.2622 and 0.8834."""
    assert detectable(3.0, 10_000) == pytest.approx(2.8016 * 3 / 100, rel=1e-3)
    assert detectable(1.0, 10) == pytest.approx((2.2622 + 0.8834) / math.sqrt(10), rel=1e-4)
    assert detectable(1.0, 10, alpha=0.01, power=0.9) == pytest.approx((3.2498 + 1.3830) / math.sqrt(10), rel=1e-4)


def test_no_data_could_be_significant():
    """Two-sided, 5 examples reach p = 2/32 > .05 at best, 6 reach 2/64."""
    assert detectable(1.0, 5) == detectable(1.0, 1) == math.inf
    assert detectable(1.0, 6) < math.inf
    assert detectable(1.0, 6, alpha=0.03) == math.inf


def test_no_spread_hides_nothing():
    assert detectable(0.0, 50) == 0
