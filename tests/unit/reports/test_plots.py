"""Plots: round ticks, names that do not overlap, bars that lie where the numbers are."""

from __future__ import annotations

import re

import numpy as np
import pytest

from assay.faithfulness import FAITHFULNESS
from assay.faithfulness.protocol import AOPC_FRACTIONS
from assay.reports.method_style import MARKERS, method_styles
from assay.reports.plots import Axis, bar_axis, curves, interval_bar, nice_ticks, spread
from assay.reports.symbols import figures, mark
from assay.statistics.verdict import compare
from assay.studies.evaluate.protocols import steps
from unit.reports.pages import Page


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-0.013, 0.43), (-3.9, 0.2), (1e-6, 3e-6), (5, 5), (0, 0)])
def test_ticks_enclose_the_range_in_equal_round_steps(low: float, high: float) -> None:
    ticks = nice_ticks(low, high)
    assert ticks[0] <= low
    assert ticks[-1] >= high
    assert 3 <= len(ticks) <= 8
    np.testing.assert_allclose(np.diff(ticks), ticks[1] - ticks[0], rtol=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_names_keep_their_order_and_distance(seed: int) -> None:
    wanted = np.sort(np.random.default_rng(seed).uniform(0, 200, 9) // 40 * 40)
    places = spread(list(wanted), 13, 0, 200)
    assert (np.diff(places) > 13 - 1e-9).all()
    assert places[0] >= 0
    assert places[-1] <= 200 + 1e-9


def test_lonely_names_stay_where_they_belong() -> None:
    assert spread([10, 50, 90], 13, 0, 100) == [10, 50, 90]
    assert spread([50, 50], 10, 0, 100) == [45, 55]


def test_a_bar_lies_where_its_interval_is() -> None:
    rng = np.random.default_rng(0)
    comparison = compare({"a": rng.normal(1, 0.1, 40), "random": rng.normal(0, 0.1, 40)}, "higher")
    axis = bar_axis(comparison)
    who = method_styles(["a", "random"], "random")
    svg = interval_bar(comparison["a"], who["a"], axis, 0.0)
    x1, x2 = (float(x) for x in re.search(r'x1="([\d.]+)%" x2="([\d.]+)%"[^>]*stroke="#', svg).groups())
    assert x1 == pytest.approx(axis.at(comparison["a"].low), abs=0.06)
    assert x2 == pytest.approx(axis.at(comparison["a"].high), abs=0.06)
    assert "dash" in svg
    Page(svg)


def test_a_value_without_an_interval_has_a_point_but_no_bar() -> None:
    comparison = compare({"a": [0.5], "random": [0.2]}, "higher")
    svg = interval_bar(comparison["a"], method_styles(["a"], None)["a"], bar_axis(comparison), None)
    assert 'stroke-opacity=".38"' not in svg
    assert "nan" not in svg
    assert figures(0.5, np.nan, np.nan) == ("0.5", "interval unknown")


def test_curves_name_every_method_and_draw_bands_for_few() -> None:
    rows = {name: np.random.default_rng(i).normal(i, 1, (10, 5)) for i, name in enumerate(["a", "b<", "random"])}
    svg = curves(rows, np.array(AOPC_FRACTIONS), method_styles(list(rows), "random"), ["a", "random"], "m", "kept")
    read = Page(svg)
    assert svg.count("<polygon") == 2
    assert svg.count("<polyline") == 3
    assert "b<" in read.text
    assert svg.count("stroke-dasharray") == 1


@pytest.mark.parametrize("name", FAITHFULNESS.names)
def test_steps_are_found_by_asking_the_metric(name: str) -> None:
    step = steps(FAITHFULNESS.make(name))
    assert step.verb == ("kept" if name in ("sufficiency", "insertion") else "removed")
    if name in ("deletion", "insertion"):
        assert step.one_by_one
        np.testing.assert_allclose(step.at(21), np.linspace(0, 1, 21))
    else:
        np.testing.assert_allclose(step.shares, AOPC_FRACTIONS)


def test_faces_differ_in_more_than_colour() -> None:
    who = method_styles([f"m{i}" for i in range(12)] + ["random"], "random")
    assert len({(f.colour, f.marker) for f in who.values()}) == 13
    assert len({f.marker for f in list(who.values())[: len(MARKERS)]}) == len(MARKERS)


def test_marks_say_what_the_tests_say() -> None:
    rng = np.random.default_rng(1)
    base = rng.normal(0, 0.1, 60)
    c = compare(
        {"best": base + 1, "tied": base + 1 + rng.normal(0, 0.1, 60), "fair": base + 0.5, "none": base + 0.0001 *
         rng.normal(0, 1, 60), "worse": base - 1, "random": base}, "higher"
    )  # fmt: skip
    assert {s.method: mark(s, c).sign for s in c.standings} == {
        "best": "★", "tied": "★", "fair": "✓", "none": "○", "worse": "▼", "random": "–",
    }  # fmt: skip


def test_an_axis_maps_its_ends_inside_the_bar() -> None:
    axis = Axis(-1, 3)
    assert (axis.at(-1), axis.at(3), axis.at(1)) == (2, 98, 50)
