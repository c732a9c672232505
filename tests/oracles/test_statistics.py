"""Intervals, tests and verdicts against scipy, enumeration, published examples, and what they promise by simulation."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats
from threadpoolctl import threadpool_limits

from assay.core.rng import generator
from assay.statistics.bootstrap import interval, intervals
from assay.statistics.permutation import holm, paired_test, sign_flips
from assay.statistics.power import detectable
from assay.statistics.ranks import average_ranks, rank_correlation
from assay.statistics.verdict import compare

DATA = {  # how to draw, and the true mean
    "normal": (lambda rng, shape: rng.normal(size=shape), 0.0),
    "beta": (lambda rng, shape: rng.beta(0.3, 1, shape), 0.3 / 1.3),
    "bernoulli": (lambda rng, shape: (rng.random(shape) < 0.3) * 1.0, 0.3),
}
DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]  # crossed minus self-fertilised, 1/8 inch


@pytest.fixture(autouse=True)
def one_thread():
    with threadpool_limits(1):
        yield


def scipy_interval(values, statistic, kind, *, confidence=0.95, seed=0):
    """scipy's own, given the very same resamples: it draws integers(0, n, (R, n)) as we do."""
    method = {"bca": "BCa", "percentile": "percentile"}[kind]
    rng = generator("bootstrap", seed)
    options = {"n_resamples": 5000, "confidence_level": confidence, "method": method}
    try:
        found = stats.bootstrap((np.asarray(values),), statistic, **options, rng=rng)
    except TypeError:  # scipy < 1.15
        found = stats.bootstrap((np.asarray(values),), statistic, **options, random_state=rng)
    return found.confidence_interval


@pytest.mark.parametrize("kind", ["bca", "percentile"])
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("n", [5, 40, 333])
def test_the_interval_of_the_mean_is_scipys(data, n, kind):
    values = DATA[data][0](np.random.default_rng(n + 2), n)
    for confidence in (0.95, 0.8):
        ours = interval(values, kind=kind, confidence=confidence, resamples=5000, seed=n)
        low, high = scipy_interval(values, np.mean, kind, confidence=confidence, seed=n)
        assert (ours.low, ours.high) == pytest.approx((low, high), rel=1e-9)
        assert ours.value == pytest.approx(values.mean())


@pytest.mark.parametrize("kind", ["bca", "percentile"])
def test_the_interval_of_any_statistic_is_scipys(kind):
    values = np.random.default_rng(1).exponential(size=30)
    for statistic in (np.median, np.std, lambda x, axis: np.exp(np.mean(np.log(x), axis))):
        ours = interval(values, statistic=lambda x, f=statistic: f(x, axis=-1), kind=kind, resamples=5000)
        low, high = scipy_interval(values, statistic, kind)
        assert (ours.low, ours.high) == pytest.approx((low, high), rel=1e-9)
        assert ours.value == pytest.approx(statistic(values, axis=-1))


def test_the_interval_of_five_seeds_is_the_one_in_the_roar_facts():
    """../shared/facts/roar.md: scipy, BCa, 9999 resamples, printed to three digits.

    Enumerating all 5^5 draws gives the same; but the level read there, .98365, lies next to a step of the draws'
    distribution, .98368, so other seeds may give the next possible mean, .376.
    """
    found = interval([0.31, 0.35, 0.28, 0.33, 0.40], resamples=9999)
    assert (found.value, found.low, found.high) == pytest.approx((0.334, 0.302, 0.372), abs=1e-9)


@pytest.mark.parametrize("unit", [0.1, 1 / 3, 0.7])
def test_ties_that_rounding_would_break_are_ties(unit):
    """Draws that hold each value once have the mean of the data in theory, not in floats. As on whole numbers."""
    for seed in range(10):
        whole = np.random.default_rng(seed).integers(0, 1000, 5)
        found, same = interval(whole * unit, resamples=2000), interval(whole * 1.0, resamples=2000)
        assert (found.low / unit, found.high / unit) == pytest.approx((same.low, same.high), rel=1e-9)


@pytest.mark.simulation
@pytest.mark.parametrize("kind", ["bca", "percentile"])
@pytest.mark.parametrize("n", [100, 200])
@pytest.mark.parametrize("data", DATA)
def test_95_percent_intervals_hold_the_mean_93_to_97_times_in_a_hundred(data, n, kind):
    draw, mean = DATA[data]
    found = [
        i
        for batch in range(40)  # 50 data sets share their resamples
        for i in intervals(draw(generator(data, n, batch), (50, n)), kind=kind, resamples=2000, seed=batch)
    ]
    assert len(found) == 2000
    assert 0.93 <= np.mean([i.low <= mean <= i.high for i in found]) <= 0.97


def test_bca_misses_on_both_sides_more_evenly_than_percentile():
    """What BCa is for: on skewed data the percentile interval misses mostly on one side (Efron 1987)."""
    draw, mean = DATA["beta"]
    rows = draw(generator("sides"), (2000, 50))

    def odds(kind):
        found = intervals(rows, kind=kind, resamples=2000)
        return sum(i.high < mean for i in found) / sum(i.low > mean for i in found)

    assert odds("percentile") > 1.3 * odds("bca") > 1.3


def test_darwins_maize():
    """Fisher (1935, section 21): 863 of 2^15 sign patterns give a sum as large: 5.267 % two-sided."""
    crossed, selfed = np.maximum(DARWIN, 0), np.maximum(-np.array(DARWIN), 0)
    exact = {"permutations": 2**15}
    assert paired_test(crossed, selfed, **exact) == 2 * 863 / 2**15
    assert paired_test(crossed, selfed, alternative="greater", **exact) == 863 / 2**15
    assert paired_test(selfed, crossed, alternative="greater", **exact) > 1 - 863 / 2**15
    assert paired_test(crossed, selfed) == pytest.approx(2 * 863 / 2**15, abs=0.007)  # 10,000 random patterns


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
@pytest.mark.parametrize("n", [2, 7, 12])
def test_few_examples_are_enumerated_as_scipy_does(n, alternative):
    rng = np.random.default_rng(n)
    a, b = rng.integers(0, 5, n) / 10, rng.integers(0, 5, n) / 10  # ties and zero differences
    expected = stats.permutation_test(
        (a, b),
        lambda x, y, axis: np.round((x - y).mean(axis=axis), 9),  # scipy's own tolerance is relative to the value
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
        alternative=alternative,
    ).pvalue
    assert paired_test(a, b, alternative=alternative) == pytest.approx(expected)


def test_enumeration_is_the_definition():
    d = np.array([0.3, -0.1, 0.2, 0.0, 0.2, -0.3, 0.5])
    sums = [np.dot(signs, d) for signs in product([1, -1], repeat=7)]
    assert sign_flips([d], alternative="greater")[0] == np.mean([s >= d.sum() - 1e-9 for s in sums])
    assert sign_flips([d])[0] == np.mean([abs(s) >= d.sum() - 1e-9 for s in sums])


def test_random_patterns_agree_with_the_normal_limit():
    d = generator("limit").normal(0.1, 1, 400)
    z = d.sum() / np.sqrt((d**2).sum())  # the sum over random signs has exactly this variance
    assert paired_test(d, 0 * d, alternative="greater", permutations=40_000) == pytest.approx(
        stats.norm.sf(z), abs=0.005
    )
    assert paired_test(d, 0 * d, permutations=40_000) == pytest.approx(2 * stats.norm.sf(z), abs=0.008)


def test_holm_is_holms_procedure():
    """Sequentially: reject the smallest while p <= α / (number left); adjusted p <= α says the same for every α."""
    rng = np.random.default_rng(0)
    for _ in range(30):
        p = np.round(rng.random(rng.integers(1, 8)) ** 3, 3)  # ties are likely
        adjusted = holm(p)
        for alpha in np.linspace(0.0123, 0.9877, 40):
            rejected = np.zeros(len(p), bool)
            for left, i in zip(range(len(p), 0, -1), np.argsort(p), strict=True):
                if p[i] > alpha / left:
                    break
                rejected[i] = True
            assert ((adjusted <= alpha) == rejected).all()


def claims(methods, n, control, repetitions):
    """The standings of methods that are all random attributions, independent of each other, many times."""
    for r in range(repetitions):
        rows = generator("alike", methods, n, r).beta(0.3, 1, (methods, n))
        values = {"random" if i == 0 else f"m{i}": row for i, row in enumerate(rows)}
        yield compare(values, "higher", control=control, seed=r, resamples=1, permutations=1000).standings


def not_above_5_percent(count, repetitions):
    return stats.binomtest(count, repetitions, 0.05, alternative="greater").pvalue > 0.01


@pytest.mark.simulation
def test_random_beats_random_in_one_of_twenty():
    count = sum(any(s.beats_random for s in standings) for standings in claims(2, 100, "random", 2000))
    assert not_above_5_percent(count, 2000)
    assert count > 70  # nor is the test asleep: 3.5 % would be far below 5


def test_any_of_five_random_methods_beats_random_in_at_most_one_of_twenty():
    """Without Holm it would be about 14 %. benchmarks/coverage.py does this and the next test 2,000 times."""
    count = sum(any(s.beats_random for s in standings) for standings in claims(6, 50, "random", 500))
    assert not_above_5_percent(count, 500)
    assert count > 8


def test_equal_methods_are_all_in_the_best_group():
    """Correcting only for comparisons with the best, which is chosen by looking, would give twice the 5 %."""
    count = sum(not all(s.best_group for s in standings) for standings in claims(8, 50, None, 500))
    assert not_above_5_percent(count, 500)


@pytest.mark.parametrize("n", [20, 100])
def test_the_detectable_difference_is_found_in_80_percent(n):
    d = generator("power", n).normal(detectable(2.0, n), 2.0, (2000, n))
    assert np.mean(sign_flips(d, permutations=2000) <= 0.05) == pytest.approx(0.8, abs=0.03)
    strict = generator("strict", n).normal(detectable(2.0, n, alpha=0.005, power=0.5), 2.0, (2000, n))
    assert np.mean(sign_flips(strict, permutations=2000) <= 0.005) == pytest.approx(0.5, abs=0.06)


@pytest.mark.parametrize(("n", "alpha"), [(6, 0.05), (7, 0.05 / 3), (8, 0.05 / 4)])
def test_so_is_that_of_as_few_as_can_be_significant(n, alpha):
    """All signs must then agree; by t alone, which knows nothing of signs, six examples would find it in 60 %."""
    d = generator("fewest", n).normal(detectable(2.0, n, alpha=alpha), 2.0, (4000, n))
    assert np.mean(sign_flips(d) <= alpha) == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize("levels", [2, 5, 1000])  # many ties, some, hardly any
def test_ranks_and_their_correlation_are_those_of_scipy(levels: int) -> None:
    draws = np.random.default_rng(levels)
    for n in (2, 3, 17, 200):
        first, second = (draws.integers(0, levels, n) / 7 for _ in range(2))
        first[0], second[0] = -1, -1  # never constant
        np.testing.assert_array_equal(average_ranks(first), stats.rankdata(first))
        assert rank_correlation(first, second) == pytest.approx(stats.spearmanr(first, second).statistic)
