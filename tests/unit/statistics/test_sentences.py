"""The words of a verdict, from standings made by hand: each kind of outcome once."""

from __future__ import annotations

import re

import numpy as np
import pytest

from assay.statistics.sentences import listed, number
from assay.statistics.verdict import Comparison, Standing, compare, overall

VALUES = {"lime": 0.5, "occlusion": 0.45, "gradient": 0.2, "attention": 0.05, "random": 0.1}


def comparison(fates, *, n=200, detectable=0.031, better="higher"):
    """`fates`: best first, method -> letters: g best group, b beats random, w worse than random."""
    control = "random" if "random" in fates else None
    standings = [standing(method, letters, control, n) for method, letters in fates.items()]
    return Comparison(tuple(standings), better, control, 0.05, n, detectable)


def standing(method, letters, control, n):
    value = VALUES.get(method, 0.3)
    plain = control is not None and method != control
    beats, worse = ("b" in letters, "w" in letters) if plain else (None, None)
    return Standing(method, value, value - 0.05, value + 0.06, n, beats, worse, "g" in letters, None, None)


NOTE = " Mean differences below about 0.031 may have been missed (80 % power)."
VERDICTS = {
    "a winner, all beat random": (
        {"lime": "gb", "occlusion": "b", "gradient": "b", "random": ""},
        "lime is best with 0.500 [0.450, 0.560]. All 3 methods beat random (0.1).",
    ),
    "a winner among two": (
        {"lime": "gb", "occlusion": "b", "random": ""},
        "lime is best with 0.500 [0.450, 0.560]. Both methods beat random (0.1).",
    ),
    "a tie, and every other fate": (
        {"lime": "gb", "occlusion": "gb", "gradient": "", "random": "", "attention": "w"},
        "lime has the best mean, 0.500 [0.450, 0.560]; occlusion is not significantly different from it. lime and "
        "occlusion beat "
        "random (0.1); gradient is not significantly better than random; attention is significantly worse than random."
        + NOTE,
    ),
    "too noisy to place": (
        {"lime": "gb", "occlusion": "g", "gradient": "g", "attention": "", "random": ""},
        "lime has the best mean, 0.500 [0.450, 0.560]; occlusion and gradient are not significantly different from "
        "it. lime beats "
        "random (0.1); attention is not significantly better than random; occlusion and gradient are not significantly "
        "different from the best or from random." + NOTE,
    ),
    "no difference at all": (
        {"lime": "g", "random": "g", "occlusion": "g"},
        "no significant difference between lime, occlusion and random." + NOTE,
    ),
    "no difference, many": (
        {f"m{i}": "g" for i in range(6)} | {"random": "g"},
        "no significant difference between the 6 methods and random." + NOTE,
    ),
    "no difference, but all beat random": (
        {"lime": "gb", "occlusion": "gb", "random": ""},
        "no significant difference between the two methods; lime has the best mean, 0.500 [0.450, 0.560]. Both "
        "methods beat "
        "random (0.1)." + NOTE,
    ),
    "no method beats random, but some differ": (
        {"lime": "g", "random": "g", "gradient": "g", "attention": "w"},
        "lime has the best mean, 0.500 [0.450, 0.560]; random and gradient are not significantly different from it. "
        "No method beats "
        "random (0.1); attention is significantly worse than random." + NOTE,
    ),
    "random is best, alone": (
        {"random": "g", "lime": "w", "occlusion": "w"},
        "random beats both methods: 0.100 [0.050, 0.160] versus 0.500 [0.450, 0.560] at best.",
    ),
    "random is best, with ties": (
        {"random": "g", "lime": "g", "occlusion": "w"},
        "no method beats random, which has the best mean, 0.100 [0.050, 0.160]; lime is not significantly different "
        "from it. occlusion "
        "is significantly worse than random." + NOTE,
    ),
    "one method against random": (
        {"lime": "gb", "random": ""},
        "lime beats random: 0.500 [0.450, 0.560] versus 0.100 [0.050, 0.160].",
    ),
    "one method, no better": (
        {"lime": "g", "random": "g"},
        "no significant difference between lime and random." + NOTE,
    ),
    "one method, worse": (
        {"random": "g", "lime": "w"},
        "no method beats random, which has the best mean, 0.100 [0.050, 0.160]. lime is significantly worse than "
        "random.",
    ),
    "no control, a winner": ({"lime": "g", "occlusion": "", "gradient": ""}, "lime is best with 0.500 [0.450, 0.560]."),
    "no control, a tie": (
        {"lime": "g", "occlusion": "g", "gradient": ""},
        "lime has the best mean, 0.500 [0.450, 0.560]; occlusion is not significantly different from it." + NOTE,
    ),
    "no control, no difference": (
        {"lime": "g", "occlusion": "g"},
        "no significant difference between lime and occlusion." + NOTE,
    ),
}


@pytest.mark.parametrize("case", VERDICTS)
def test_the_verdict(case):
    fates, text = VERDICTS[case]
    assert comparison(fates).sentence("comprehensiveness") == f"comprehensiveness (higher is better, n = 200): {text}"


def test_one_method_alone():
    text = "sufficiency (lower is better, n = 50): lime has 0.500 [0.450, 0.560]; no other method to compare with."
    assert comparison({"lime": "g"}, n=50, detectable=None, better="lower").sentence("sufficiency") == text


CAUTION = "Caution: n = 29 is small, so intervals are too narrow."


def test_fewer_than_thirty_examples_warn_whatever_the_outcome():
    decided, undecided = {"lime": "gb", "random": ""}, {"lime": "g", "random": "g"}
    for fates in (decided, undecided):
        assert comparison(fates, n=29).power_note == CAUTION + NOTE
    assert comparison({"lime": "g"}, n=29, detectable=None).power_note == CAUTION
    assert comparison(decided, n=30).power_note == ""
    assert comparison(undecided, n=30).power_note == NOTE.strip()
    assert comparison(undecided, n=30).sentence("x").endswith(NOTE)


def test_no_spread_leaves_nothing_open():
    assert compare({"lime": np.ones(40), "random": np.ones(40)}, "higher").power_note == ""


def test_five_examples_cannot_show_anything():
    comparison = compare({"lime": [1, 2, 3, 4, 5], "occlusion": [0, 0, 0, 0, 0]}, "higher")
    assert comparison.sentence("x") == (
        "x (higher is better, n = 5): no significant difference between lime and occlusion. Caution: n = 5 is small, "
        "so intervals are too narrow. No difference can be significant with so few examples."
    )


def test_what_beats_random_with_few_examples_is_not_denied():
    """One-sided tests against random need fewer examples than two-sided ones of all pairs."""
    rng = np.random.default_rng(0)
    eight = {f"m{i}": 0.5 + 0.1 * rng.random(8) for i in range(7)} | {"random": 0.1 * rng.random(8)}
    sentence = compare(eight, "higher").sentence("x")
    assert "All 7 methods beat random" in sentence
    assert sentence.endswith("No difference between methods can be significant with so few examples.")
    five = compare({"lime": [0.5, 0.6, 0.7, 0.8, 0.9], "random": [0.1, 0.0, 0.2, 0.1, 0.1]}, "higher").sentence("x")
    assert "lime beats random" in five
    assert five.endswith("Caution: n = 5 is small, so intervals are too narrow.")
    four = compare({"lime": [0.5, 0.6, 0.7, 0.8], "random": [0.1, 0.0, 0.2, 0.1]}, "higher").sentence("x")
    assert four.endswith("No difference can be significant with so few examples.")
    one = compare({"lime": [0.5], "random": [0.1]}, "higher").sentence("x")
    assert "Caution: n = 1 is small, so intervals are unknown." in one


WIN = {"lime": "gb", "occlusion": "b", "gradient": "", "random": ""}
TIE = {"occlusion": "gb", "lime": "gb", "gradient": "", "random": ""}
NONE = {"lime": "g", "occlusion": "g", "gradient": "g", "random": "g"}
UNBEATEN = {"lime": "g", "occlusion": "g", "random": "g", "gradient": "w"}
OVERALL = {
    "a leader": (
        [WIN, WIN, TIE, NONE],
        "The methods differ on 3 of 4 metrics; on these, lime is most often in the best group (3 of 3), followed by "
        "occlusion "
        "(1). gradient never beats random.",
    ),
    "two leaders, all decided": (
        [TIE, TIE],
        "The methods differ on both metrics; on these, occlusion and lime are most often in the best group (2 of 2 "
        "each). "
        "gradient never beats random.",
    ),
    "nothing": (
        [NONE, NONE, UNBEATEN],
        "No method stands out on any of the 3 metrics. No method beats random on any metric.",
    ),
    "one metric": ([TIE], "The best group on the only metric is occlusion and lime. gradient never beats random."),
    "one metric, nothing": (
        [NONE],
        "No method stands out on the only metric. No method beats random on any metric.",
    ),
    "all good": (
        [{"lime": "gb", "occlusion": "b", "random": ""}, {"lime": "gb", "occlusion": "gb", "random": ""}],
        "The methods differ on 1 of 2 metrics; the best group there is lime. Every method beats random on every "
        "metric.",
    ),
    "good somewhere": (
        [{"lime": "gb", "occlusion": "b", "random": ""}, {"lime": "gb", "occlusion": "", "random": ""}],
        "The methods differ on both metrics; on these, lime is most often in the best group (2 of 2). Every method "
        "beats "
        "random on at least one metric.",
    ),
    "no control": (
        [{"lime": "g", "occlusion": ""}, {"occlusion": "g", "lime": ""}, {"lime": "g", "occlusion": "g"}],
        "The methods differ on 2 of 3 metrics, but none is in the best group twice; lime and occlusion are in it once "
        "each.",
    ),
    "one method": (
        [{"lime": "gb", "random": ""}, {"lime": "g", "random": "g"}],
        "lime beats random on 1 of 2 metrics.",
    ),
    "one method, always": ([{"lime": "gb", "random": ""}] * 3, "lime beats random on all 3 metrics."),
    "two metrics, nothing": (
        [NONE, NONE],
        "No method stands out on either metric. No method beats random on any metric.",
    ),
    "only the control": ([{"random": "g"}] * 2, "random is only a control; add methods to compare with it."),
    "one method, worse": ([{"random": "g", "lime": "w"}] * 2, "random beats lime on both metrics."),
    "one method, never": ([{"lime": "g", "random": "g"}], "lime does not beat random on any metric."),
}


@pytest.mark.parametrize("case", OVERALL)
def test_the_overall_sentence(case):
    fates, text = OVERALL[case]
    assert overall({f"metric {i}": comparison(f) for i, f in enumerate(fates)}) == text


def test_too_few_examples_for_any_finding_are_said_across_metrics():
    three = compare({"lime": [0.5, 0.6, 0.7], "random": [0.1, 0.0, 0.2]}, "higher")
    five = compare({"lime": [0.5, 0.6, 0.7, 0.8, 0.9], "random": [0.1, 0.0, 0.2, 0.1, 0.1]}, "higher")
    assert overall({"x": three, "y": three}) == (
        "With so few examples no difference can be significant: nothing is known about the methods."
    )
    assert overall({"x": three, "y": five}) == "lime beats random on 1 of 2 metrics."


def test_nothing_measured():
    assert overall({}) == "No metric was computed."


def test_words_and_numbers():
    assert [listed(list(names)) for names in ("a", "ab", "abc")] == ["a", "a and b", "a, b and c"]
    assert [number(x) for x in (0.12345, 12.345, 1234.5, -0.00001234, 0)] == ["0.123", "12.3", "1234", "-1.23e-05", "0"]
    assert [number(x) for x in (999.4, 999.6, -999.6)] == ["999", "1000", "-1000"]


def test_decimals_follow_the_width_of_the_interval():
    wide, narrow = ({"a": np.linspace(0, width, 100), "b": np.linspace(9, 8, 100) * 1e4} for width in (100, 0.01))
    assert re.search(r"a is best with 50\.0 \[44\.\d, 55\.\d\]\.", compare(wide, "lower").sentence("x"))
    assert re.search(r"a is best with 0\.00500 \[0\.0044\d, 0\.0055\d\]\.", compare(narrow, "lower").sentence("x"))
    constant = compare({"a": np.ones(40), "b": np.linspace(0, 0.5, 40)}, "higher")
    assert "a is best with 1 on every example." in constant.sentence("x")
