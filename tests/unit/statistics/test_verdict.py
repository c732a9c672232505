"""Who is best, who ties, who beats random: on data whose answer is known without a test."""

from __future__ import annotations

import numpy as np
import pytest

from assay.core.errors import InputError, SpecError
from assay.statistics.bootstrap import interval
from assay.statistics.permutation import holm, paired_test
from assay.statistics.power import detectable
from assay.statistics.verdict import compare

N = 60
NOISE = np.random.default_rng(0).normal(0, 1, (6, N))
EXAMPLE = np.linspace(-2, 2, N)  # how hard an example is: shared by all methods, so pairing matters


def centred(row, mean, spread=1.0):
    """Values whose mean is exactly `mean`."""
    return EXAMPLE + mean + spread * (row - row.mean())


def values(**means):
    return {name: centred(NOISE[i], mean) for i, (name, mean) in enumerate(means.items())}


CLEAR = values(random=0.0, gradient=0.05, lime=2.0, occlusion=1.95, attention=-1.5)


def flags(comparison):
    return {s.method: (s.best_group, s.beats_random, s.worse_than_random) for s in comparison.standings}


def test_the_standings():
    result = compare(CLEAR, "higher")
    assert [s.method for s in result.standings] == ["lime", "occlusion", "gradient", "random", "attention"]
    assert flags(result) == {
        "lime": (True, True, False),
        "occlusion": (True, True, False),
        "gradient": (False, False, False),
        "random": (False, None, None),
        "attention": (False, False, True),
    }
    assert (result.n, result.better, result.control, result.best) == (N, "higher", "random", result["lime"])


def test_lower_is_better_mirrors_everything_but_the_values():
    higher, lower = compare(CLEAR, "higher"), compare({name: -row for name, row in CLEAR.items()}, "lower")
    assert flags(lower) == flags(higher)
    for up, down in zip(higher.standings, lower.standings, strict=True):
        assert (down.value, down.p_best, down.p_random) == pytest.approx((-up.value, up.p_best, up.p_random))
        assert (down.low, down.high) == pytest.approx((-up.high, -up.low), abs=0.01)


def test_values_intervals_and_p_values_are_those_of_the_parts():
    """Against one call per number: the interval of each method, and Holm over the tests of each family."""
    result = compare(CLEAR, "higher", seed=5)
    names = list(CLEAR)
    for name, row in CLEAR.items():
        alone, standing = interval(row, seed=5), result[name]
        assert (standing.value, standing.low, standing.high) == pytest.approx((alone.value, alone.low, alone.high))
    against = [paired_test(CLEAR[m], CLEAR["random"], alternative="greater", seed=5) for m in names[1:]]
    assert [result[m].p_random for m in names[1:]] == pytest.approx(holm(against))
    pairs = [(i, j) for i in range(5) for j in range(i)]
    adjusted = holm([paired_test(CLEAR[names[i]], CLEAR[names[j]], seed=5) for i, j in pairs])
    for (i, j), p in zip(pairs, adjusted, strict=True):
        pair = {names[i], names[j]}
        if "lime" in pair and "random" not in pair:
            assert result[(pair - {"lime"}).pop()].p_best == pytest.approx(p)
    assert result["lime"].p_best is result["random"].p_random is None
    assert result["random"].p_best == result["lime"].p_random


def test_pairing_is_used():
    """Differences of 0.3 among examples that differ by 4: only a paired test can see them."""
    small = {"random": centred(NOISE[0], 0.0, 0.1), "lime": centred(NOISE[1], 0.3, 0.1)}
    assert compare(small, "higher")["lime"].beats_random
    assert compare({**small, "lime": small["lime"][::-1]}, "higher")["lime"].beats_random is False


def test_without_a_control_there_is_nothing_to_beat():
    for result in (compare(values(lime=1.0, occlusion=0.0), "higher"), compare(CLEAR, "higher", control=None)):
        assert result.control is None
        assert {s.beats_random for s in result.standings} == {s.p_random for s in result.standings} == {None}
        assert result["lime"].best_group
    other = compare(values(lime=1.0, shuffled=0.0), "higher", control="shuffled")
    assert (other["lime"].beats_random, other["shuffled"].beats_random) == (True, None)


def test_the_control_is_in_the_best_group_exactly_if_the_best_does_not_beat_it():
    """Over shifts around the edge, where a two-sided test of all pairs would contradict the one-sided one."""
    seen = set()
    for shift in np.linspace(0, 1.5, 40):
        result = compare(values(random=0.0, lime=shift, occlusion=-0.1, gradient=-0.1), "higher", resamples=1)
        if result.best.method == "lime":
            assert result["random"].best_group is not result["lime"].beats_random
            seen.add(result["random"].best_group)
    assert seen == {True, False}


def test_a_control_that_is_best_is_the_best_group_alone_or_with_its_ties():
    result = compare(values(random=2.0, lime=0.0, occlusion=1.98), "higher")
    assert flags(result) == {
        "random": (True, None, None),
        "occlusion": (True, False, False),
        "lime": (False, False, True),
    }


def test_no_difference():
    same = dict.fromkeys(("random", "lime", "occlusion"), NOISE[0])
    assert all(s.best_group for s in compare(same, "higher").standings)
    assert all(s.p_best in (None, 1) for s in compare(same, "higher").standings)
    assert [s.method for s in compare(same, "lower").standings] == list(same)  # ties keep their order


def test_alpha_is_the_level_of_tests_and_intervals():
    data = values(random=0.0, lime=0.3)
    p = compare(data, "higher")["lime"].p_random
    assert 0.01 < p < 0.2
    assert compare(data, "higher", alpha=p + 0.001)["lime"].beats_random
    assert compare(data, "higher", alpha=p - 0.001)["lime"].beats_random is False
    ninety = interval(data["lime"], confidence=0.9)
    assert compare(data, "higher", alpha=0.1)["lime"].low == pytest.approx(ninety.low)


def test_many_methods_can_still_be_told_apart():
    """5 methods are 10 pairs: of 100 patterns the smallest p is 1/101, and 10 times that is above .05: more are drawn.

    With the usual 10,000 the same befalls 33 methods.
    """
    result = compare(values(a=9.0, b=0.0, c=0.0, d=0.0, e=0.0), "higher", permutations=100)
    assert [s.method for s in result.standings if s.best_group] == ["a"]


def test_the_detectable_difference_is_of_the_median_spread_at_the_corrected_level():
    result = compare(CLEAR, "higher")
    spreads = [(CLEAR["lime"] - row).std(ddof=1) for name, row in CLEAR.items() if name != "lime"]
    assert result.detectable == pytest.approx(detectable(float(np.median(spreads)), N, alpha=0.05 / 10))


def test_rounding_is_no_spread():
    steady = np.linspace(0, 1, 20)
    assert compare({"lime": steady + 0.1, "random": steady}, "higher").detectable == 0


def test_few_examples():
    one = compare({"random": [0.1], "lime": [0.9]}, "higher")
    assert flags(one) == {"lime": (True, False, False), "random": (True, None, None)}
    assert np.isnan(one["lime"].low)
    assert compare({"lime": [0.1, 0.2]}, "higher").detectable is None


def test_bad_input_is_refused():
    with pytest.raises(InputError, match=r"'lime': \(2,\), 'random': \(3,\)"):
        compare({"lime": [1, 2], "random": [1, 2, 3]}, "higher")
    for bad in ({}, {"lime": []}, {"lime": 3.0}, {"lime": [[1.0]]}):
        with pytest.raises(InputError, match="values have shape"):
            compare(bad, "higher")
    with pytest.raises(InputError, match="1 of 4 values are NaN or infinite, the first at random, example 0"):
        compare({"lime": [1, 2], "random": [np.nan, 1]}, "higher")
    with pytest.raises(SpecError, match="better='up': unknown direction; allowed: higher, lower"):
        compare({"lime": [1, 2]}, "up")
    with pytest.raises(SpecError, match="alpha=5"):
        compare({"lime": [1, 2]}, "higher", alpha=5)
    with pytest.raises(InputError, match="unknown method 'lim'; did you mean 'lime'"):
        compare({"lime": [1, 2]}, "higher")["lim"]
