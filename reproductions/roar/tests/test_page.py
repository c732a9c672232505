"""The ROAR results page from an empty and a small store, and claims on hand-made areas."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest

import assay
from assay.datasets.load import load_dataset
from assay.evaluation.roar.leak import Leak
from assay.evaluation.roar.verdict import Faithfulness
from assay.experiments.store import Store
from assay.statistics.bootstrap import Interval
from assay.studies.roar.curves import Curves

from .. import page, records

QUICK = "recipe(epochs=2, batch_size=8, learning_rate=0.05, optimiser=adam, schedule=constant, warmup=0)"
STEPS = {"truth": [1.0, 0.5], "recursive": [1.0, 0.5], "roar": [1.0, 1.0], "worst": [1.0, 1.0]}


def evidence(curves=(), areas=(), fifths=()):
    e = page.Evidence(dict(curves), dict(areas), dict(fifths))
    e.__dict__["synthetic"] = STEPS  # computing it takes half a minute
    return e


def area(value, half=0.02, verdict="faithful", leak=None, curve=(0.9, 0.5, 0.4), seeds=5):
    """Five trainings with a standard deviation of 2 points, alike for all areas but for their mean."""
    span = Interval(value, value - half, value + half, seeds)
    drawn = tuple(np.random.default_rng(abs(int(1000 * np.nan_to_num(value)))).normal(value, half / 2, 400))
    trained = tuple(value + 0.02 * np.array([1.0, -1.0, 1.0, -1.0, 0.0])[:seeds])
    return Faithfulness(value, span, span, span, trained, verdict, leak, curve, (), drawn)


def test_nothing_is_run_yet():
    text = page.page(evidence(), {})
    assert text.count("**not run yet**") == len(page.CLAIMS) - 1
    assert "| 10 | Synthetic problem: Recursive ROAR recovers the truth" in text
    assert "**confirmed**" in text
    assert "Run so far: nothing." in text
    assert text.count("\nNot run yet.\n") == 6  # five tables of areas, and the measurable model


LSTM, MINILM = "LSTM", "transformer"
NAMES = ("attention", "gradient", "input x gradient", "integrated gradients")
PAPER = (0.157, 0.076, 0.28, 0.378)  # SST
RECURSIVE, ROAR, WORDS = "recursive", "roar", "words"


def lstm(*values, **more):
    """Areas of attention, gradient, input x gradient and IG."""
    return {name: area(value, **more) for name, value in zip(NAMES, values, strict=True)}


def minilm(gradient, ig, **more):
    return {"gradient": area(gradient, **more), "integrated gradients": area(ig, **more)}


def test_claims_wait_for_what_they_need():
    """With the paper's own numbers of SST alone nothing is confirmed or refuted that needs more."""
    e = evidence(with_curves({"SST": {}}), {(("SST", LSTM), RECURSIVE): lstm(*PAPER)})
    verdicts = {number: judge(e)[0] for number, (_, judge) in page.CLAIMS.items()}
    assert {number for number, verdict in verdicts.items() if verdict != "not run yet"} == {"10", "SST"}
    assert verdicts["SST"] == "confirmed"


def test_a_measure_beats_another_by_their_difference():
    """Draws that move together tell what intervals that meet cannot; with other seeds, only the intervals count."""
    low, high = area(0.30, half=0.05), area(0.32, half=0.05)
    high = replace(high, drawn=tuple(x + 0.02 for x in low.drawn))
    e = evidence(areas={(("SST", LSTM), RECURSIVE): {"attention": low, "gradient": high}})
    assert e.above(high, low)
    assert not e.above(low, high)
    few = replace(low, seeds=low.seeds[:2])
    assert not e.above(high, few)
    assert e.above(area(0.5), few)


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
    assert not e.differ(area(0.3, seeds=1), area(0.36, seeds=1))
    assert e.differ(area(0.3), area(0.36))
    assert not e.differ(area(0.3), area(0.36), 0.99999)
    assert not evidence().differ(area(0.1, seeds=1), area(0.9, seeds=1))  # nothing tells how much trainings vary
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


def test_an_area_that_leaks_is_never_beaten():
    e = evidence(areas={(("SST", LSTM), RECURSIVE): lstm(*PAPER)})
    high, low = area(0.4, seeds=2), area(0.1, seeds=2)
    for doubt in ({"leak": LEAK}, {"low": LEAK}):
        leaky = replace(low, **doubt)
        assert (e.above(high, low), e.differ(high, low), e.ordered(low, high)) == (True, True, False)
        assert (e.above(high, leaky), e.differ(high, leaky), e.differ(leaky, high)) == (False, False, False)
        assert e.ordered(leaky, high) is None
    assert e.above(replace(high, leak=LEAK), low), "a leak makes an area lower, never higher"
    assert not e.above(replace(high, low=LEAK), low), "a failed training makes it higher"
    assert (e.faithful(high), e.faithful(replace(high, leak=LEAK)), e.faithful(replace(high, low=LEAK))) == (
        True, True, None)  # fmt: skip
    assert e.above(replace(area(0.4), low=LEAK), area(0.1)), "of five seeds a failure is in the noise of trainings"
    assert (e.faithful(area(-0.1)), e.faithful(area(-0.1, leak=LEAK)), e.faithful(area(0.01))) == (False, None, None)
    place, worst = ("bAbI-1", LSTM), lstm(0.9, 0.5, 0.5, 0.1)
    leaky = worst | {"integrated gradients": replace(worst["integrated gradients"], leak=LEAK)}
    judge_4 = page.CLAIMS["4"][1]
    assert judge_4(evidence(areas={(place, "recursive"): worst}))[0] == "confirmed"
    assert judge_4(evidence(areas={(place, "recursive"): leaky}))[0] == "not run yet"
    verdict, text = judge_4(evidence(areas={(place, "recursive"): leaky, (place, "predicted"): worst}))
    assert verdict == "confirmed"
    assert "bAbI-1 LSTM predicted: gradient 50.0" in text


def test_a_leak_is_no_noise_of_trainings():
    """IG's seeds lie 20 points apart because one leaks: only its own interval knows of it, and the page says so."""
    spread = tuple(0.1 + 0.2 * np.array([-1, -0.5, 0, 0.5, 1]))
    leaky = replace(area(0.1), seeds=spread, leak=LEAK)
    babi = lstm(0.9, 0.7, 0.5, 0.1) | {"integrated gradients": leaky}
    sst = lstm(0.14, *PAPER[1:])
    areas = {(("SST", LSTM), RECURSIVE): sst, (("bAbI-1", LSTM), RECURSIVE): babi}
    e = evidence(with_curves({"SST": {}, "bAbI-1": {}}), areas)
    assert e.noise.area == pytest.approx(0.0004)
    counted = replace(e, leaks_are_noise=True)
    assert counted.noise.area == pytest.approx((7 * 0.0004 + np.var(spread, ddof=1)) / 8)
    assert e.interval(leaky) == counted.interval(leaky), "its own spread is larger than either"
    note = page.leak_sensitivity(e)
    assert "the two standard deviations would be 5.9 and" in note
    assert "SST undecided instead of confirmed" in note
    assert page.leak_sensitivity(counted) == ""
    assert page.leak_sensitivity(evidence(areas={(("SST", LSTM), RECURSIVE): sst})) == ""


def test_areas_of_other_trainings_are_independent():
    """Three seeds each, but not the same: their differences tell nothing."""
    one, other = (replace(area(v, seeds=3), trainings=t) for v, t in ((0.3, (0, 1, 2)), (0.36, (1, 2, 3))))
    e = evidence(areas={(("SST", LSTM), RECURSIVE): {"attention": one, "gradient": other}})
    assert e.noise.gap == np.inf
    assert e.noise.area == pytest.approx(np.var(one.seeds, ddof=1))
    variance = e._variance(one) + e._variance(other)
    assert e.gap(other, one).high == pytest.approx(0.06 + 1.959964 * np.sqrt(variance))


def test_an_area_at_fifths_has_the_leak_that_its_points_step_over():
    flagged = records.with_leaks_of(replace(area(0.2, leak=LEAK), low=LEAK), area(0.1))
    assert (flagged.value, flagged.leak, flagged.low) == (0.1, LEAK, LEAK)
    assert records.with_leaks_of(area(0.2), area(0.1, leak=LEAK)).leak == LEAK


def test_with_other_seeds_a_difference_is_that_of_independent_means():
    """As claim 7 has it while ROAR has fewer seeds: at the level that is asked for."""
    sst = {(("SST", LSTM), RECURSIVE): {"attention": area(0.3), "gradient": area(0.1)}}
    e, five, one = evidence(areas=sst), area(0.36), area(0.3, seeds=1)
    half = 1.959964 * np.sqrt(2 * (0.02 / 1.959964) ** 2 - 0.0004 * 0.8 / 5 + 0.0004 / 5 + 0.0004)
    gap = e.gap(five, one)
    assert (gap.value, gap.high - gap.value) == (pytest.approx(0.06), pytest.approx(half, rel=1e-4))
    assert e.above(five, one)
    assert not e.above(five, one, 0.999)


UNSURE = lstm(0.3, 0.2, 0.2, 0.3, half=float("nan"))
LEAK = Leak(0.2, 0.4, 0.1, 0.001, 2, 5)
VARY = {("SST", LSTM): lstm(*PAPER)}  # tells how much trainings vary
REST = {("SNLI", LSTM): lstm(0.7, 0.5, 0.6, 0.3), ("IMDB", LSTM): lstm(0.7, 0.5, 0.6, 0.3)}
CASES = [  # claim, areas by data, model and study, verdict
    ("3", {("SST", LSTM): lstm(*PAPER), ("bAbI-1", LSTM): lstm(0.7, 0.5, 0.6, 0.3), **REST}, "confirmed"),
    ("3", {("SST", LSTM): lstm(*PAPER), ("bAbI-1", LSTM): lstm(0.7, 0.5, 0.6, 0.3)}, "not run yet"),
    ("3", {("SST", LSTM): lstm(*PAPER), ("bAbI-1", LSTM): lstm(0.7, 0.9, 0.6, 0.3)}, "refuted"),  # beaten elsewhere
    ("3", {("SST", LSTM): lstm(*PAPER), ("bAbI-1", LSTM): {"attention": area(0.1)}}, "not run yet"),
    ("3", {("SST", LSTM): lstm(0.377, 0.1, 0.377, 0.377), ("bAbI-1", LSTM): lstm(0.7, 0.5, 0.6, 0.3), **REST},
     "undecided"),
    ("3", {("SST", LSTM): lstm(0.9, 0.1, 0.3, 0.3), ("bAbI-1", LSTM): lstm(0.7, 0.5, 0.6, 0.3)}, "refuted"),
    ("3", {("SST", LSTM): lstm(*PAPER), ("bAbI-1", LSTM): lstm(0.7, 0.7, 0.7, 0.7), **REST}, "undecided"),
    ("4", {("SST", LSTM): lstm(*PAPER), ("bAbI-1", LSTM): lstm(0.7, 0.5, 0.6, 0.3)}, "confirmed"),
    ("4", {("SST", LSTM): lstm(*PAPER), ("bAbI-1", LSTM): lstm(0.7, 0.2, 0.2, 0.3)}, "not run yet"),
    ("4", {(d, LSTM): lstm(0.9, 0.2, 0.2, 0.3) for d in ("SST", "bAbI-1", "SNLI")}, "refuted"),
    ("4", {(d, LSTM): lstm(0.9, 0.2, 0.3, 0.3) for d in ("SST", "bAbI-1", "SNLI")}, "undecided"),
    ("4", {("SNLI", LSTM): UNSURE, **{(d, LSTM): lstm(0.9, 0.2, 0.2, 0.3) for d in ("SST", "bAbI-1")}}, "undecided"),
    ("4b", {("bAbI-1", MINILM): minilm(0.6, 0.2)}, "confirmed"),
    ("4b", {("bAbI-1", MINILM): minilm(0.2, 0.6)}, "refuted"),
    ("4b", {("bAbI-1", MINILM): {"integrated gradients": area(0.2)}}, "not run yet"),
    ("6", {("SST", LSTM): {"gradient": area(0.1, leak=LEAK)}}, "confirmed"),
    ("6", {("SST", LSTM): {"gradient": area(0.1, leak=replace(LEAK, of=2), seeds=2)}}, "not run yet"),
    ("6", {("SST", LSTM): lstm(*PAPER, leak=replace(LEAK, p=0.02))}, "not run yet"),  # one in four by chance
    ("6", {(d, LSTM): lstm(*PAPER) for d in ("SST", "bAbI-1")}, "undecided"),
    ("6", {("SST", LSTM): lstm(*PAPER), ("bAbI-1", LSTM): lstm(*PAPER, seeds=2)}, "not run yet"),
    ("7", {("SST", LSTM): lstm(*PAPER), ("SST", LSTM, ROAR): lstm(0, 0, 0, 0),
           ("IMDB", LSTM): lstm(*PAPER), ("IMDB", LSTM, ROAR): lstm(0, 0, 0, 0)}, "confirmed"),
    ("7", {("SST", LSTM): lstm(0, 0, 0, 0), ("SST", LSTM, ROAR): lstm(*PAPER),
           ("IMDB", LSTM): lstm(*PAPER), ("IMDB", LSTM, ROAR): lstm(0, 0, 0, 0)}, "refuted"),
    ("7", {("SST", LSTM): lstm(*PAPER), ("SST", LSTM, ROAR): lstm(*PAPER),
           ("IMDB", LSTM): lstm(*PAPER), ("IMDB", LSTM, ROAR): lstm(0, 0, 0, 0)}, "undecided"),
    ("7", {("SST", LSTM): lstm(*PAPER), ("SST", LSTM, ROAR): lstm(0, 0, 0, 0)}, "not run yet"),
    ("9", {("SST", LSTM): lstm(*PAPER), ("SST", LSTM, WORDS): lstm(*PAPER)}, "confirmed"),
    ("9", {("SST", LSTM): lstm(*PAPER), ("SST", LSTM, WORDS): lstm(-0.1, 0.1, 0.1, 0.1)}, "refuted"),
    ("9", {("SST", LSTM): lstm(*PAPER), ("SST", LSTM, WORDS): lstm(0.01, 0.1, 0.1, 0.1)}, "undecided"),  # no proof
    ("9", {("SST", LSTM): lstm(*PAPER), ("SST", LSTM, WORDS): lstm(0.03, 0.03, 0.03, 0.03, seeds=1)}, "undecided"),
    ("9", {("SST", LSTM): lstm(*PAPER), ("SST", LSTM, WORDS): {"attention": area(0.157)}}, "not run yet"),
    ("11", {("SNLI", LSTM): lstm(0.7, 0.1, 0.1, 0.2), ("SST", LSTM): lstm(*PAPER),
            ("SNLI", MINILM): minilm(0.1, 0.6), ("bAbI-1", MINILM): minilm(0.6, 0.1)}, "confirmed"),
    ("11", {("SNLI", LSTM): lstm(0.7, 0.1, 0.1, 0.2), ("SST", LSTM): lstm(*PAPER),
            ("SNLI", MINILM): minilm(0.1, 0.1, half=0.3), ("bAbI-1", MINILM): minilm(0.6, 0.1)}, "undecided"),
    ("11", {("SNLI", LSTM): lstm(0.2, 0.1, 0.1, 0.7), ("SST", LSTM): lstm(*PAPER)}, "refuted"),
    ("11", {("SNLI", LSTM): UNSURE, ("SST", LSTM): lstm(*PAPER),  # run, but not testable
            ("SNLI", MINILM): minilm(0.1, 0.6), ("bAbI-1", MINILM): minilm(0.6, 0.1)}, "undecided"),
    ("11", {("SNLI", LSTM): {"attention": area(-0.1)}, ("SST", LSTM): lstm(*PAPER)}, "not run yet"),
    ("12", {("IMDB", LSTM, WORDS): lstm(0.5, 0.5, 0.5, 0.1)}, "not run yet"),  # bAbI is still to come
    ("12", {("IMDB", LSTM, WORDS): lstm(0.5, 0.5, 0.5, 0.1), ("bAbI-1", LSTM, WORDS): lstm(0.5, 0.1, 0.1, 0.5),
            **VARY}, "confirmed"),
    ("12", {("IMDB", LSTM, WORDS): lstm(0.5, 0.5, 0.5, 0.1), ("bAbI-1", LSTM, WORDS): lstm(0.5, 0.1, 0.1, 0.1),
            **VARY}, "refuted"),
    ("12", {("IMDB", LSTM, WORDS): lstm(0.1, 0.5, 0.5, 0.1), ("bAbI-1", LSTM, WORDS): lstm(0.5, 0.1, 0.1, 0.5),
            **VARY}, "undecided"),
    ("12", {("IMDB", LSTM, WORDS): lstm(0.5, 0.5, 0.5, 0.1),
            ("bAbI-1", LSTM, WORDS): lstm(0.6, 0.3, 0.3, 0.1, half=0.6), **VARY}, "undecided"),  # by chance
    ("12", {("IMDB", LSTM, WORDS): lstm(0.5, 0.5, 0.5, float("nan"))}, "not run yet"),  # no area, nothing to say
    ("SST", {("SST", LSTM): lstm(0.157, 0.3, 0.28, 0.378)}, "refuted"),
    ("SST", {("SST", LSTM): lstm(0.157, 0.076, 0.37, 0.378)}, "undecided"),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "places", "verdict"), CASES)
def test_claims_follow_the_areas(claim, places, verdict):
    areas = {((data, model), (study or [RECURSIVE])[0]): measures for (data, model, *study), measures in places.items()}
    judgement = page.CLAIMS[claim][1](evidence(areas=areas))
    assert judgement[0] == verdict, judgement


@pytest.mark.parametrize(
    ("claim", "places", "verdict"),
    [
        ("1", {("SST", LSTM): lstm(*PAPER), ("SST", MINILM): minilm(0.5, 0.378)}, "confirmed"),
        ("1", {("SST", LSTM): lstm(*PAPER), ("SST", MINILM): minilm(0.076, 0.378)}, "not run yet"),
        ("1", {(d, m): f for d in ("SST", "SNLI", "bAbI-1") for m, f in
               ((LSTM, lstm(*PAPER)), (MINILM, minilm(0.076, 0.378)))}, "undecided"),
        ("1", {(d, m): UNSURE if (d, m) == ("SNLI", LSTM) else f for d in ("SST", "SNLI", "bAbI-1") for m, f in
               ((LSTM, lstm(*PAPER)), (MINILM, minilm(0.076, 0.378)))}, "undecided"),
        ("1", {("SST", LSTM): lstm(*PAPER), ("SST", MINILM): minilm(0.115, 0.378, seeds=1)}, "not run yet"),
        ("2", {("SST", LSTM): lstm(*PAPER), ("SNLI", LSTM): lstm(0.7, 0.076, 0.28, 0.378)}, "confirmed"),
        ("2", {("SST", LSTM): lstm(*PAPER), ("SNLI", MINILM): minilm(0.7, 0.7)}, "not run yet"),  # two models
        ("2", {("SST", LSTM): lstm(*PAPER), ("SNLI", LSTM): lstm(*PAPER)}, "undecided"),
    ],
)  # fmt: skip
def test_claims_across_models_and_tasks_are_at_fifths(claim, places, verdict):
    areas = {(("SST", LSTM), RECURSIVE): lstm(*PAPER)}  # tells how much trainings vary
    judgement = page.CLAIMS[claim][1](evidence(areas=areas, fifths=places))
    assert judgement[0] == verdict, judgement


def with_curves(masses, ratios=(0, 0.1, 1)):
    """Curves of the LSTM on some data, of which only the sparsity and the ratios count."""
    empty = np.zeros(3, int)
    return {
        ((data, LSTM), RECURSIVE): Curves(
            RECURSIVE, "g", data, "b", "Recursive ROAR", True, list(ratios), empty, {}, {}, mass
        )
        for data, mass in masses.items()
    }


def test_claims_about_sparsity():
    def mass(*shares):
        return {m: {"share_10": [s], "top_10": [s / 2]} for m, s in zip(NAMES, shares, strict=True)}

    def verdict(claim, **masses):
        return page.CLAIMS[claim][1](evidence(with_curves(masses)))[0]

    attention, other = mass(0.9, 0.2, 0.3, 0.4), mass(0.1, 0.2, 0.6, 0.4)
    assert verdict("8", SST=attention, IMDB=attention) == "not run yet"
    assert verdict("8", SST=attention, IMDB=attention, SNLI=other) == "confirmed"
    assert verdict("8", SST=attention, IMDB=other, SNLI=other) == "refuted"
    assert verdict("8", SST=attention, IMDB=other, SNLI=other, MIMIC=attention) == "undecided"
    assert verdict("8b", SST=attention) == "not run yet"
    babi = {"bAbI-1": attention}
    assert verdict("8b", **babi, SST=other) == "not run yet"
    assert verdict("8b", **babi, SST=other, IMDB=attention) == "confirmed"
    assert verdict("8b", **{"bAbI-1": other}) == "refuted"
    assert verdict("8b", **babi, SST=other, IMDB=other) == "refuted"
    assert verdict("13", SST=attention) == "not run yet"
    assert verdict("13", IMDB=attention) == "confirmed"
    assert verdict("13", IMDB=mass(1.82, 0.1, 0.1, 0.1)) == "refuted"
    assert verdict("13", IMDB={"attention": attention["attention"]}) == "not run yet"


def test_when_curves_drop():
    """Twelve curves of ten texts each: the accuracy falls first, then, or at the end."""
    data, gold = ("SST", "IMDB", "SNLI"), np.zeros(10, int)

    def judge(*shapes, ratios=(0, 0.1, 0.3, 1), score=None):
        curves = with_curves({d: {} for d in data}, ratios)
        areas = {((d, LSTM), RECURSIVE): lstm(*PAPER) for d, _ in zip(data, shapes, strict=False)}
        for d, shape in zip(data, shapes, strict=False):
            wrong = (np.arange(10) >= np.array(shape)[:, None]).astype(int)[None]  # (1,I,10), so many are right
            key = ((d, LSTM), RECURSIVE)
            areas[key] = {m: replace(f, curve=tuple(score or np.array(shape) / 10)) for m, f in areas[key].items()}
            curves[key] = replace(curves[key], gold=gold, predicted=dict.fromkeys(NAMES, wrong))
        return page.CLAIMS["5"][1](evidence(curves, areas))

    early, late, last = (9, 4, 3, 0), (9, 8, 2, 0), (9, 6, 5, 0)
    assert judge(early, early, early)[0] == "confirmed"
    assert judge(early, early)[0] == "not run yet"
    assert judge(late, late, late)[0] == "confirmed"  # from 10 % on
    assert judge(late, late, late, ratios=(0, 0.2, 0.4, 1))[0] == "refuted"
    assert judge(early, early, late, ratios=(0, 0.2, 0.4, 1))[0] == "undecided"  # 8 of 12
    verdict, text = judge(last, last, last)
    assert verdict == "undecided"  # early, except for the last step, which all measures share
    counts = "of 12 measures 12 by the task's score, 0 with the last step, 12 by accuracy, 0 with the last step"
    assert text.startswith(f"{counts}; in this order, drops start at: SST LSTM attention 0, 30, 0, 30 %; SST LSTM g")
    assert judge(early, early, early, score=last)[0] == "undecided"  # the task's score falls otherwise


def test_a_measurable_model_and_recursive_roar_are_compared_by_sure_pairs():
    """Of six pairs each decides some; only pairs that both decide count as agreement."""
    measurable, recursive = lstm(0.5, 0.1, 0.1, 0.3), lstm(0.5, 0.3, 0.1, 0.1)
    text = page._agreement(evidence(areas={(("SST", LSTM), RECURSIVE): recursive}), measurable, recursive, NAMES)
    assert "Of 6 pairs of measures, 5 differ significantly with the measurable model and\n5 with Recursive ROAR" in text
    assert "4 with both, 3 of them in the same order." in text
    assert "The order of gradient and integrated gradients is reversed." in text


def test_areas_of_roar_stand_beside_our_own_with_recursion():
    """The paper's areas are recursive ones."""
    e = evidence(areas={(("SST", LSTM), RECURSIVE): lstm(*PAPER), (("SST", LSTM), ROAR): lstm(0, 0, 0, 0.1)})
    assert "| integrated gradients | 10.0 [8.0, 12.0] |" in page.area_table(e, ROAR)
    assert "| 37.8 [35.8, 39.8] |" in page.area_table(e, ROAR)
    assert "[32.5, 42.4]" not in page.area_table(e, ROAR)
    assert "37.8 [32.5, 42.4] | yes |" in page.area_table(e)
    assert "the standard deviation of an area is 2.0" in page.seed_note(e)


def test_an_area_that_is_not_sure_is_not_printed():
    """Of models that have nothing to lose it may be anything."""
    sst = {(("SST", LSTM), RECURSIVE): lstm(*PAPER)}
    e = evidence(areas={**sst, (("SNLI", LSTM), RECURSIVE): {"attention": area(-13.3, half=float("nan"))}})
    assert np.isnan(e.interval(area(-13.3, half=float("nan"), seeds=1)).low)
    (row,) = [line for line in page.area_table(e).splitlines() if "SNLI" in line]
    assert "| attention | undefined | – |" in row
    assert row.endswith("| 36.5 [33.0, 39.5] | – |")


def test_curves_that_rise_are_told_beside_the_areas_of_the_predicted_label():
    leaky = replace(area(-0.05), notes=("1 seed", "class leakage (one training): the accuracy rises"))
    low = replace(area(0.3), notes=("a low point: one training's accuracy is lower",))
    place = ("bAbI-1", LSTM)
    e = evidence(areas={(place, "recursive"): {"gradient": leaky}, (place, "predicted"): {"gradient": low}})
    notes = page.leak_notes(e).splitlines()
    assert notes[0] == "- bAbI-1 LSTM, Recursive ROAR, gradient: class leakage (one training): the accuracy rises."
    assert notes[1].startswith("- bAbI-1 LSTM, Recursive ROAR for the predicted label, gradient: a low point")
    assert page.area_table(e, "predicted").splitlines()[-1].endswith("| faithful | -5.0 [-7.0, -3.0] |")
    assert page.leak_notes(evidence()) == "No curve rises significantly.\n"


def test_the_share_of_a_step_that_ig_takes():
    """50 of 5 + 3 x 15 + 50 seconds; a place with measures missing says nothing."""
    seconds = {"random": {"train": 5.0}, **{m: {"train": 10.0, "explain": 5.0} for m in NAMES[:3]}}
    whole = {**seconds, NAMES[3]: {"train": 10.0, "explain": 40.0}}  # 50 of 100
    place = with_curves({"SST": {}, "IMDB": {}})
    part = {"SST": whole, "IMDB": seconds}
    e = evidence({key: replace(c, seconds=part[key[0][0]]) for key, c in place.items()})
    assert page.ig_share(e).startswith("IG takes 50 % with the LSTM of the time")
    assert page.ig_share(evidence()) == ""


def test_models_are_compared_on_one_grid():
    """Points between steps of 20 % are left out."""
    fine = Curves("s", "g", "d", "b", "Recursive ROAR", True, [i / 10 for i in range(11)], np.zeros(3, int), {}, {
        "random": np.arange(11)[None, :, None].repeat(3, 2)})  # fmt: skip
    coarse = records.at_points(fine, records.FIFTHS)
    assert coarse.axis == records.FIFTHS
    assert coarse.predicted["random"][0, :, 0].tolist() == [0, 2, 4, 6, 8, 10]


def test_published_numbers():
    """Some of the fact sheet's section 8, and the form in which they are printed."""
    assert page.AREAS["SST", "LSTM"]["integrated gradients"] == (37.8, 4.6, 5.3)
    assert page.AREAS["SNLI", "transformer"]["gradient"] == (50.7, 1.1, 0.8)
    assert page.published((28.0, 5.6, 4.4)) == "28 [23.6, 33.6]"
    assert page._overlap(area(0.34, 0.02).both, (28.0, 5.6, 4.4)) == "yes"
    assert page._overlap(area(0.37, 0.02).both, (28.0, 5.6, 4.4)) == "no"
    assert page._overlap(Interval(0.3, -np.inf, np.inf, 1), (28.0, 5.6, 4.4)) == "–"


FILLER = ["the", "soup", "was", "here", "again", "today"]


def write_splits(folder, sizes):
    """Short texts of filler words with "good" or "bad"."""
    rng = np.random.default_rng(0)
    folder.mkdir()
    for split, n in sizes.items():
        with (folder / f"{split}.csv").open("w", newline="") as file:
            out = csv.writer(file)
            out.writerow(["text", "label"])
            for i in range(n):
                words = [*rng.choice(FILLER, 3 + i % 5), "good" if i % 2 else "bad"]
                out.writerow([" ".join(rng.permutation(words)), "yes" if i % 2 else "no"])
    return folder


PLAN = """
name: tiny
data: {{sst: {data}}}
models:
  bilstm: {{train: "bilstm_attention(hidden=4, width=4)", on: sst, seeds: [0], recipe: "{recipe}"}}
studies:
  recursive:
    {{kind: roar, data: trained_on, step: 50, methods: [attention, "integrated_gradients(steps=2, baseline=zero)"]}}
  measurable: {{kind: measurable, data: trained_on, step: 50, methods: [attention]}}
"""


def test_a_small_store_becomes_a_page(tmp_path):
    pytest.importorskip("seaborn", reason="needs the extra: pip install 'assay[plots]'")
    data = write_splits(tmp_path / "d", {"train": 12, "dev": 6, "test": 6})
    (tmp_path / "sst.yaml").write_text(PLAN.format(data=data, recipe=QUICK))
    store = Store(tmp_path / "s")
    assert assay.run(tmp_path / "sst.yaml", store=store.folder, progress=False).ok
    stored = page.read_evidence(store, page.TASKS[:1], tmp_path)
    assert set(stored.curves) == {(("SST", "LSTM"), "recursive"), (("SST", "LSTM"), "measurable")}
    assert set(stored.areas[("SST", "LSTM"), "recursive"]) == {"attention", "integrated gradients"}
    assert stored.of("SST", "LSTM") == {}  # not all measures of the paper
    e = evidence(stored.curves, stored.areas)
    figures = page.draw(e, tmp_path / "figures")
    assert {"synthetic", "recursive_lstm", "sparsity_top", "measurable"} <= set(figures)
    assert all((tmp_path / "figures" / f"{name}.png").stat().st_size > 5000 for name in figures)
    sizes = page.dataset_table(store, {("SST", "LSTM"): ("sst.yaml", "bilstm", "sst")}, tmp_path)
    text = page.page(e, figures, page.word_vector_table(store, tmp_path / "sst.yaml"), sizes)
    words = [len(example.text.split()) for example in load_dataset(data, split="test")]
    assert f"| SST | LSTM | 12 / 6 / 6 | 6,579 / 848 / 1,776 | {np.mean(words) + 2:.1f} | 20 |" in text
    assert "| bilstm | " in text.partition("word vectors of")[2]
    assert "| SST | LSTM | integrated gradients |" in text
    assert "37.8 [32.5, 42.4]" in text
    assert "Cost per seed" in text
