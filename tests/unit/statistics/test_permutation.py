"""The sign-flip test at its edges, its seeds, and Holm on numbers worked by hand."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from assay.core.errors import InputError, SpecError
from assay.statistics import permutation
from assay.statistics.permutation import holm, paired_test, sign_flips, sign_flips_together

RNG = np.random.default_rng(0)
A, B = RNG.normal(0.2, 1, 60), RNG.normal(0, 1, 60)


def test_by_hand():
    """d = 1, 2, 3: of 8 patterns one reaches 6, and one more reaches it in absolute value."""
    assert paired_test([1, 2, 3], [0, 0, 0], alternative="greater") == 1 / 8
    assert paired_test([1, 2, 3], [0, 0, 0]) == 2 / 8
    assert paired_test([0, 0, 0], [1, 2, 3], alternative="greater") == 1
    assert paired_test([1, 2], [2, 0], alternative="greater") == 2 / 4  # d = -1, 2: sums 1 -3 3 -1


def test_one_example_shows_nothing():
    assert paired_test([5.0], [0.0]) == 1
    assert paired_test([5.0], [0.0], alternative="greater") == 0.5


def test_no_difference_is_no_evidence():
    assert paired_test(A, A) == 1
    assert paired_test(A, A, alternative="greater") == 1
    assert paired_test([0.1], [0.1]) == 1


def test_zero_differences_change_nothing_and_keep_the_test_exact():
    a = [0.3, 0.1, 0.4, 0.2, 0.5]
    assert paired_test(a + [7] * 200, [0] * 5 + [7] * 200) == 2 / 32


def test_ties_count_also_after_rounding():
    """Tenths that cancel in theory: 0.1 + 0.2 and 0.3 are one sum."""
    tenths, whole = np.array([0.1, 0.2, -0.3, 0.7, -0.6, 0.1]), np.array([1, 2, -3, 7, -6, 1])
    assert sign_flips([tenths])[0] == sign_flips([whole])[0]
    assert sign_flips([np.tile(tenths, 5)])[0] == sign_flips([np.tile(whole, 5)])[0]  # by random patterns


def test_p_is_never_zero_and_counts_the_pattern_seen():
    assert paired_test(np.ones(40), np.zeros(40), permutations=99) == 1 / 100
    assert paired_test(np.zeros(40), np.ones(40), permutations=99, alternative="greater") == 1


def test_a_shift_of_both_changes_nothing_and_swapping_mirrors():
    p, q = (paired_test(a, b, alternative="greater") for a, b in ((A, B), (B, A)))
    assert p < 0.5 < q
    assert p + q == pytest.approx(1, abs=0.02)
    assert paired_test(A, B) == pytest.approx(2 * p, abs=0.01)
    assert paired_test(A, B) == pytest.approx(paired_test(A + 3, B + 3))
    assert paired_test(A, B) == paired_test(B, A)


def test_the_seed_alone_decides():
    assert paired_test(A, B, seed=1) == paired_test(A, B, seed=1)
    assert len({paired_test(A, B, seed=s) for s in range(5)}) > 1


def test_chunks_change_nothing(monkeypatch):
    rows = [A - B, B - A, A]
    whole, exact = sign_flips(rows, permutations=999), sign_flips([A[:9]])
    monkeypatch.setattr(permutation, "CHUNK", 7 * 60)
    assert (sign_flips(rows, permutations=999) == whole).all()
    assert sign_flips([A[:9]]) == exact


def test_rows_are_tested_as_if_alone():
    rows = np.array([A - B, np.where(np.arange(60) < 6, A - B, 0.0), A * 0])  # random patterns, enumerated, nothing
    assert sign_flips(rows).tolist() == [paired_test(row, 0 * row) for row in rows]


def test_enumeration_begins_where_the_patterns_suffice():
    """Of 4 examples there are 16 patterns: with 16 allowed all of them, exactly; with 15, random ones."""
    d = np.array([1.0, 2.0, 4.0, -8.0])
    assert {paired_test(d, 0 * d, permutations=16, seed=s) for s in range(20)} == {1.0}
    d[3] = 8
    assert {paired_test(d, 0 * d, permutations=16, seed=s) for s in range(20)} == {2 / 16}
    assert len({paired_test(d, 0 * d, permutations=15, seed=s) for s in range(20)}) > 1


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.4, 0.5]) == pytest.approx([0.8, 0.8])
    assert holm([0.6, 0.9]) == pytest.approx([1.0, 1.0])
    assert holm([0.02]) == pytest.approx([0.02])
    assert len(holm([])) == 0


def test_rows_together_by_enumeration():
    """Step down by hand: every pattern of signs, the largest statistic of a row and all weaker rows."""
    rows = np.random.default_rng(3).normal([[0.9], [0.4], [0.0], [0.5]], 1, (4, 8))
    statistic = rows.sum(1) / np.sqrt((rows**2).sum(1))
    order = sorted(range(4), key=lambda i: -abs(statistic[i]))
    expected, before = np.empty(4), 0.0
    for place, row in enumerate(order):
        hits = 0
        for signs in product((-1, 1), repeat=8):
            flipped = np.abs(rows @ signs) / np.sqrt((rows**2).sum(1))
            hits += flipped[order[place:]].max() >= abs(statistic[row]) - 1e-12
        before = expected[row] = max(before, hits / 2**8)
    assert sign_flips_together(rows) == pytest.approx(expected)
    assert sign_flips_together(rows[:1]) == pytest.approx(sign_flips(rows[:1]))


def test_equal_rows_cost_nothing_together():
    row = RNG.normal(0.3, 1, 40)
    alone = sign_flips_together([row])[0]
    assert sign_flips_together([row, 2 * row, -row]) == pytest.approx([alone] * 3)
    assert list(sign_flips_together([row, np.zeros(40)])) == [pytest.approx(alone), 1.0]


def test_bad_input_is_refused():
    with pytest.raises(InputError, match=r"shapes \(3,\) and \(2,\); a paired test needs the same examples"):
        paired_test([1, 2, 3], [1, 2])
    with pytest.raises(InputError, match="NaN or infinite"):
        paired_test([1, np.nan], [1, 2])
    with pytest.raises(InputError, match="values have shape"):
        paired_test([], [])
    with pytest.raises(SpecError, match="unknown alternative 'less'"):
        paired_test([1], [2], alternative="less")
    with pytest.raises(SpecError, match="permutations=0"):
        paired_test([1], [2], permutations=0)
    for p in ([0.1, 1.2], [np.nan], [[0.1]]):
        with pytest.raises(InputError, match="not a list of p-values"):
            holm(p)
