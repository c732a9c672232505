"""Words and numbers of pages that once misled: too few examples, cut axes, unknown areas, needless decimals."""

from __future__ import annotations

import re

import numpy as np

from assay.evaluation.roar.verdict import _undefined
from assay.reports.method_style import method_styles
from assay.reports.plots import bar_axis, share_curves
from assay.reports.study_page import few_examples
from assay.reports.symbols import format_interval, gain_of
from assay.statistics.verdict import compare
from assay.studies.roar.result import sentence


def test_the_warning_of_few_examples_names_the_metric() -> None:
    assert few_examples({"auprc": 1, "sufficiency": 200}) == [
        "Only 1 example for auprc: there is no interval and no test."
    ]
    both = few_examples({"auprc": 9, "sufficiency": 9})
    assert both[0].startswith("Only 9 examples. With fewer than 30, ")
    assert few_examples(1) == ["Only 1 example: there is no interval and no test."]
    assert few_examples({"auprc": 30}) == []


def test_long_numbers_of_an_axis_are_not_cut() -> None:
    rows = {"a": np.array([[-0.00025, 0.00025]] * 3)}
    plot = share_curves(rows, np.array([0.1, 0.5]), method_styles(["a"], None), [], "x", "removed")
    left = int(re.search(r'viewBox="(-?\d+) 0 ', plot)[1])  # type: ignore[index]
    longest = max(re.findall(r'text-anchor="end">([^<]+)<', plot), key=len)
    assert len(longest) >= 6
    assert left <= 35 - 6.5 * len(longest) + 1, "digits are 6.5 wide and end at 35"


def test_differences_too_small_to_matter_look_small() -> None:
    noise = np.random.default_rng(0).normal(0, 1e-6, 40)
    c = compare({"a": 3e-5 + noise, "random": noise}, "higher", margin=0.01)
    axis = bar_axis(c)
    assert axis.at(c["a"].value) - axis.at(c["random"].value) < 1, "per cent of the width"
    assert format_interval(3.1e-5, 2.9e-5, 3.3e-5, 0.01) == ("0.000", "[0.000, 0.000]")
    assert format_interval(-3.1e-5, -3.3e-5, 3e-5, 0.01)[0] == "0.000", "no minus before zero"
    assert gain_of(c["a"], c) == "+0.000"


def test_an_area_that_is_undefined_is_no_headline() -> None:
    unknown = _undefined(np.array([np.nan]), np.ones((1, 2)), None, ())
    said = sentence("Recursive ROAR", {"attention": unknown})
    assert said.startswith(
        "Recursive ROAR (1 seed): no verdict on attention, because the random baseline loses nothing"
    )
    assert "unknown" not in said
