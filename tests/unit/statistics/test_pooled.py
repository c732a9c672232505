from __future__ import annotations

import numpy as np
import pytest

from assay.statistics.bootstrap import interval
from assay.statistics.pooled import pooled


def test_the_mean_is_the_pooled_ratio():
    hits, chosen = np.array([1.0, 4.0, 0.0, 7.0]), np.array([5.0, 8.0, 3.0, 20.0])
    assert pooled(hits / chosen, chosen).mean() == pytest.approx(hits.sum() / chosen.sum(), abs=1e-12)
    assert np.allclose(pooled(hits, np.full(4, 3.0)), hits)


def test_its_interval_is_that_of_resampled_ratios():
    rng = np.random.default_rng(0)
    sizes = rng.integers(3, 40, 200).astype(float)
    hits = rng.binomial(sizes.astype(int), rng.beta(2, 3, 200)).astype(float)
    drawn = rng.integers(0, 200, (20_000, 200))
    low, high = np.quantile(hits[drawn].sum(1) / sizes[drawn].sum(1), [0.025, 0.975])
    result = interval(pooled(hits / sizes, sizes), kind="percentile")
    assert result.low == pytest.approx(low, abs=0.1 * (high - low))
    assert result.high == pytest.approx(high, abs=0.1 * (high - low))
