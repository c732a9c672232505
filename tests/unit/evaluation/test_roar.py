"""ROAR's pure parts: the area on hand-worked curves, masks, performance, the verdict and class leakage."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy import stats

from assay.core.errors import InputError, SpecError
from assay.evaluation.performance.macro_f1 import MacroF1
from assay.evaluation.roar.area import area
from assay.evaluation.roar.band import band
from assay.evaluation.roar.curves import performance
from assay.evaluation.roar.leak import leakage
from assay.evaluation.roar.masks import Amount, amounts, order, whole
from assay.evaluation.roar.synthetic import Synthetic, fit
from assay.evaluation.roar.verdict import FAITHFUL, INCONCLUSIVE, NOT_FAITHFUL, difference, judge
from assay.statistics.bootstrap import interval

TENTHS = np.linspace(0, 1, 11)
RANDOM = 1 - TENTHS  # falls evenly from 1 to 0

# --- area --------------------------------------------------------------------------------------------------------


def test_area_by_hand():
    """Three points: (0 + .25)/2 x .5 twice over (1 + .5)/2 x .5 + (.5 + 0)/2 x .5."""
    assert area([0, 0.5, 1], [1, 0.25, 0], [1, 0.5, 0]) == pytest.approx(0.125 / 0.5)
    assert area([0, 0.2, 1], [0.9, 0.5, 0.5], [0.9, 0.8, 0.5]) == pytest.approx(
        (0.1 * 0.3 + 0.4 * 0.3) / (0.1 * (0.4 + 0.3) + 0.4 * 0.3)
    )


def test_area_of_known_curves():
    assert area(TENTHS, RANDOM, RANDOM) == 0
    above = np.minimum(1, RANDOM + 0.1)
    above[-1] = 0
    assert area(TENTHS, above, RANDOM) < 0
    once = np.where(TENTHS == 0, 1.0, 0.0)  # falls to the end at the first step: the best that there is
    assert area(TENTHS, once, RANDOM) == pytest.approx(0.9)


def test_area_is_the_literal_sum():
    rng = np.random.default_rng(0)
    p, b = rng.random((2, 5, 11))
    p[:, -1] = b[:, -1] = 0
    p[:, 0] = b[:, 0]
    found = area(TENTHS, p, b)
    for s in range(5):
        top = sum(0.5 * 0.1 * (b[s, i] - p[s, i] + b[s, i + 1] - p[s, i + 1]) for i in range(10))
        under = sum(0.5 * 0.1 * (b[s, i] - b[s, -1] + b[s, i + 1] - b[s, -1]) for i in range(10))
        assert found[s] == pytest.approx(top / under)


def test_a_finer_grid_by_interpolation_changes_nothing():
    rng = np.random.default_rng(1)
    p, fine = np.sort(rng.random(11))[::-1], np.linspace(0, 1, 101)
    b = np.sort(rng.random(11))[::-1]
    assert area(fine, np.interp(fine, TENTHS, p), np.interp(fine, TENTHS, b)) == pytest.approx(area(TENTHS, p, b))


def test_clipping_and_curves_that_say_nothing():
    assert area([0, 0.5, 1], [1, 3, 0], [1, 0.2, 0]) < -1
    assert area([0, 0.5, 1], [1, 3, 0], [1, 0.2, 0], clip=True) == -1
    assert np.isnan(area([0, 1], [0.5, 0.5], [0.5, 0.5]))
    # a curve that ends before everything is masked, with its floor of 0.2: (b - p) / 2 over (b - 0.2), by hand
    assert area([0, 1, 1], [1, 0.4, 0.2], [1, 0.9, 0.2]) == pytest.approx(0.25 / 0.75)
    with pytest.raises(InputError, match="rising ratios"):
        area([0, 0, 1], [1, 1, 0], [1, 1, 0])


def test_the_papers_interval_of_five_seeds():
    """scipy.stats.bootstrap has [.302, .372] for these (fact sheet, section 11)."""
    found = interval([0.31, 0.35, 0.28, 0.33, 0.40])
    assert found.value == pytest.approx(0.334)
    assert (found.low, found.high) == (pytest.approx(0.302, abs=2e-3), pytest.approx(0.372, abs=2e-3))


# --- masks -------------------------------------------------------------------------------------------------------


def test_counts():
    """floor(r n / 100) for all lengths up to 4,000, which is what float32 truncation gives; count is at most n."""
    n = np.arange(1, 4001)
    for r in range(10, 101, 10):
        expected = np.trunc(np.float32(r / 100) * n.astype(np.float32)).astype(int)
        assert [Amount("share", r).of(int(m)) for m in n] == expected.tolist()
    assert Amount("share", 10).of(9) == 0
    assert Amount("count", 3).of(2) == 2
    assert [a.k for a in amounts("share", 10, None)] == list(range(10, 101, 10))
    assert [a.k for a in amounts("count", 1, None)] == list(range(1, 11))
    with pytest.raises(SpecError, match="step=0"):
        amounts("share", 0, None)


def test_masks_are_nested_and_old_ones_stay():
    rng = np.random.default_rng(0)
    for _ in range(30):
        n = int(rng.integers(1, 30))
        first = order(rng.random(n), [], np.random.default_rng(0))
        done = first[: n // 3].tolist()
        then = order(rng.random(n), done, np.random.default_rng(0))
        assert then[: len(done)].tolist() == done
        assert sorted(then) == list(range(n))


def test_order_is_by_falling_score_and_ties_are_drawn():
    assert order([0.1, 0.9, 0.5], [], np.random.default_rng(0)).tolist() == [1, 2, 0]
    assert order([0.1, 0.9, 0.5], [0], np.random.default_rng(0)).tolist() == [0, 1, 2]
    firsts = [int(order(np.zeros(5), [], np.random.default_rng(s))[0]) for s in range(60)]
    assert set(firsts) == set(range(5))


def test_everything():
    assert whole("good film") == ((0, 0, 9),)
    assert whole(None) == ()


# --- performance -------------------------------------------------------------------------------------------------


def test_performance_is_the_metrics_own():
    rng = np.random.default_rng(0)
    gold, said = rng.integers(0, 3, 40), rng.integers(0, 3, (5, 40))
    said[4] = 1  # one class alone
    outputs = np.eye(3)[said]
    for score, metric in (("macro_f1", MacroF1().score), ("accuracy", lambda o, g: (o.argmax(-1) == g).mean())):
        found = performance(said, gold, score)[0]
        assert np.allclose(found, [metric(o, gold) for o in outputs])
        drawn = rng.integers(0, 40, (7, 40))
        weights = np.stack([np.bincount(d, minlength=40) for d in drawn]).astype(float)
        found = performance(said, gold, score, weights)
        assert np.allclose(found, [[metric(o[d], gold[d]) for o in outputs] for d in drawn])


# --- verdict -----------------------------------------------------------------------------------------------------


def predictions(accuracy, seeds=5, n=400, seed=0):
    """(S,I,N) answers that are right with the given probabilities (I,), and gold; an example is hard for all alike."""
    rng = np.random.default_rng(seed)
    gold = np.arange(n) % 2
    hard = rng.random(n)
    right = hard < np.asarray(accuracy)[None, :, None] + 0.02 * rng.standard_normal((seeds, len(accuracy), 1))
    return np.where(right, gold, 1 - gold), gold


RATIOS = TENTHS.tolist()
FEW = {"score": "accuracy", "resamples": 400}
BASE = 0.95 - 0.45 * TENTHS


def test_verdicts():
    random, gold = predictions(BASE, seed=1)
    lower, _ = predictions(np.where(TENTHS > 0, np.minimum(BASE, 0.6), 0.95), seed=1)
    good = judge(RATIOS, lower, random, gold, recursive=True, score="accuracy", resamples=400)
    assert good.verdict == FAITHFUL
    assert 0 < good.both.low < good.value < good.both.high < 1
    assert good.value == pytest.approx(np.mean(good.seeds))
    assert good.bca.low <= good.value <= good.bca.high
    assert any("84 %" in note for note in good.notes)
    same = judge(RATIOS, random, random, gold, recursive=True, score="accuracy", resamples=400)
    assert (same.value, same.verdict) == (0, INCONCLUSIVE)  # nothing that it chose was masked
    assert any("predict the same at every step" in note for note in same.notes)
    level, _ = predictions(BASE, seed=2)
    level = judge(RATIOS, level, random, gold, recursive=True, score="accuracy", resamples=400)
    assert (abs(level.value) < 0.15, level.verdict) == (True, NOT_FAITHFUL)
    assert judge(RATIOS, random, random, gold, recursive=False, score="accuracy", resamples=400).verdict == INCONCLUSIVE


def test_the_interval_counts_test_examples():
    """Seeds that agree exactly say nothing of other examples: with few of them no verdict."""
    wide = []
    for n in (30, 1000):
        random, gold = predictions(BASE, seeds=1, n=n)
        lower, _ = predictions(BASE - 0.03 * (TENTHS > 0) * (TENTHS < 1), seeds=1, n=n)
        found = judge(RATIOS, np.repeat(lower, 5, 0), np.repeat(random, 5, 0), gold, recursive=True, **FEW)
        assert found.bca.high - found.bca.low == pytest.approx(0, abs=1e-12)
        wide.append(found.both.high - found.both.low)
    assert wide[0] > 3 * wide[1] > 0


def test_the_difference_of_two_areas_is_paired():
    """Against a bootstrap written out, with draws of its own: seeds and examples drawn once for both measures."""
    random, gold = predictions(BASE, seeds=3, n=200, seed=1)
    more, _ = predictions(np.where(TENTHS > 0, np.minimum(BASE, 0.62), 0.95), seeds=3, n=200, seed=1)
    less, _ = predictions(np.where(TENTHS > 0, np.minimum(BASE, 0.64), 0.95), seeds=3, n=200, seed=1)
    a, b = (judge(RATIOS, p, random, gold, recursive=True, score="accuracy") for p in (more, less))
    rng = np.random.default_rng(3)
    gaps = []
    for _ in range(1500):
        texts, seeds = rng.integers(0, 200, 200), rng.integers(0, 3, 3)
        own, other, base = ((p == gold)[seeds][:, :, texts].mean(-1) for p in (more, less, random))  # (3,11)
        gaps.append(np.mean(area(RATIOS, own, base) - area(RATIOS, other, base)))
    found = difference(a, b)
    assert found.value == pytest.approx(a.value - b.value)
    assert (found.low, found.high) == pytest.approx(np.quantile(gaps, [0.025, 0.975]).tolist(), abs=0.006)
    alone = np.hypot(a.both.high - a.both.low, b.both.high - b.both.low)
    assert found.high - found.low < 0.8 * alone  # what they share cancels
    same = difference(a, a)
    assert (same.value, same.low, same.high) == (0, 0, 0)
    fewer = judge(RATIOS, less[:2], random[:2], gold, recursive=True, score="accuracy")
    assert np.isnan(difference(a, fewer).low)


def test_the_band_of_a_curve():
    """One seed: the percentiles of a proportion, near the normal ones; more seeds that differ make it wider."""
    said, gold = predictions(BASE, seeds=1, n=1000)
    found = band(said, gold, "accuracy", resamples=2000)
    right = (said[0] == gold).mean(-1)
    assert found.mean == pytest.approx(right)
    half = 1.96 * np.sqrt(right * (1 - right) / 1000)
    assert found.low == pytest.approx(right - half, abs=0.006)
    assert found.high == pytest.approx(right + half, abs=0.006)
    both = band(np.concatenate([said, 1 - said]), gold, "accuracy")  # one seed is right where the other is wrong
    assert both.high[0] - both.low[0] > 0.8


def test_few_seeds_are_told():
    random, gold = predictions(BASE, seeds=2)
    found = judge(RATIOS, random, random, gold, recursive=True, score="accuracy", resamples=200)
    assert any("2 seeds" in note for note in found.notes)
    one = judge(RATIOS, random[:1], random[:1], gold, recursive=True, score="accuracy", resamples=200)
    assert np.isnan(one.bca.low)
    assert np.isnan(one.t.low)


def test_the_t_interval():
    random, gold = predictions(BASE, seed=3)
    lower, _ = predictions(BASE - 0.1 * (TENTHS > 0), seed=4)
    found = judge(RATIOS, lower, random, gold, recursive=True, score="accuracy", resamples=100)
    expected = stats.t.interval(0.95, 4, np.mean(found.seeds), stats.sem(found.seeds))
    assert (found.t.low, found.t.high) == pytest.approx(expected)


def test_leakage_fires_only_on_a_real_rise():
    random, gold = predictions(BASE)
    few = {"recursive": True, "score": "accuracy", "resamples": 200}
    rising = np.where(TENTHS < 0.4, 0.6, 0.8)
    leaky, _ = predictions(np.where(TENTHS == 0, 0.95, np.where(TENTHS == 1, 0.5, rising)), seed=2)
    found = judge(RATIOS, leaky, random, gold, **few)
    assert found.leak is not None
    assert found.leak.start < 0.4 <= found.leak.end
    assert found.leak.rise == pytest.approx(0.2, abs=0.08)
    assert (found.leak.seeds, found.leak.of) == (5, 5)
    assert any("class leakage (5 of 5 seeds)" in note for note in found.notes)
    # the same rise in random's curve is none that a mask has made, and neither is one up to the shared end
    assert judge(RATIOS, leaky, leaky, gold, **few).leak is None
    late, _ = predictions(np.where(TENTHS == 1, 0.8, 0.5), seed=3)
    assert judge(RATIOS, late, random, gold, **few).leak is None
    assert judge(RATIOS, leaky, random, gold, labelled=False, **few).leak is None
    false = [judge(RATIOS, predictions(BASE, seed=s)[0], random, gold, **few).leak for s in range(10, 30)]
    assert false == [None] * 20


def test_a_curve_without_a_low_point_is_given_no_note_of_one():
    random, gold = predictions(BASE)
    few = {"recursive": True, "score": "accuracy", "resamples": 200}
    found = [judge(RATIOS, predictions(BASE, seed=s)[0], random, gold, **few) for s in range(10, 30)]
    assert not [note for f in found for note in f.notes if "low point" in note]


def test_a_low_point_is_none_where_the_other_trainings_vary_as_much():
    """Random's trainings vary little; a method's may be lucky or not at every step, and that is no low point."""
    random, gold = predictions(BASE, n=800)
    calm, _ = predictions(BASE - 0.1 * (TENTHS > 0) * (TENTHS < 1), n=800, seed=5)
    luck = np.random.default_rng(0).normal(0, 0.1, (4, 11)) * (TENTHS > 0) * (TENTHS < 1)
    wild = np.concatenate([calm[:1], *(predictions(BASE - 0.1 + x, n=800, seeds=1, seed=9)[0] for x in luck)])
    few = {"recursive": True, "score": "accuracy", "resamples": 200}
    found = []
    for own in (calm, wild):
        failed = own.copy()
        failed[0, 4] = 1 - gold[:1]
        found.append(judge(RATIOS, failed, random, gold, **few).low)
    assert found[0] is not None
    assert found[1] is None or found[1].p > 10 * found[0].p


def test_leakage_of_one_seed_is_seen_though_the_mean_does_not_rise():
    """Seeds fall to chance at different steps and rise at the next one; a failed training alone is no rise."""
    random, gold = predictions(BASE, n=800)
    own, _ = predictions(np.linspace(0.9, 0.5, 11) - 0.1 * (TENTHS > 0) * (TENTHS < 1), n=800, seed=5)
    few = {"recursive": True, "score": "accuracy", "resamples": 200}
    assert judge(RATIOS, own, random, gold, **few).leak is None
    failed = own.copy()
    failed[1, 4] = 1 - gold[:1]  # one class for all
    alone = judge(RATIOS, failed, random, gold, **few)
    assert alone.leak is None
    assert re.search(
        r"a low point: the accuracy of one training.* with 40 % masked than with .* failed, or", alone.notes[-1]
    )
    before, after = ((failed[1, k] == gold).mean() for k in (4, round(10 * alone.low.end)))
    assert (alone.low.start, alone.low.seeds, alone.low.of) == (0.4, 1, 5)
    assert alone.low.rise == pytest.approx(after - before)
    blind = judge(RATIOS, failed, random, gold, labelled=False, **few)
    assert blind.low == alone.low
    assert "this training may have failed, which makes the method look more faithful" in blind.notes[-1]
    again = failed.copy()
    again[1, 5] = own[1, 0]
    found = judge(RATIOS, again, random, gold, **few)
    assert np.diff((again == gold).mean((0, 2))[2:]).max() < 0.06  # their mean hardly rises
    assert (found.leak.seeds, found.leak.of, found.leak.end) == (1, 5, 0.5)
    assert found.leak.start == pytest.approx(0.3)  # not at the failed training
    one = judge(RATIOS, again[1:2], random[1:2], gold, names=[f"{k} words" for k in range(11)], **few)
    assert "class leakage (one training)" in one.notes[-1]
    assert "from 3 words to 5 words masked" in one.notes[-1]


def test_leakage_is_told_from_the_accuracy():
    """Macro-F1 of a model that knows nothing rises from 1/3 to 1/2 when it stops saying one class for all."""
    random, gold = predictions(BASE, seeds=1, n=800)
    own, _ = predictions(np.where(TENTHS == 0, 0.95, 0.5), seeds=1, n=800, seed=7)
    own[:, 1:5] = 0
    assert judge(RATIOS, own, random, gold, recursive=True, resamples=200).leak is None


def test_leakage_is_the_literal_test():
    """The chance of every rise, written out for three points and two seeds: z, one-sided, nine curves and pairs."""
    rng = np.random.default_rng(1)
    ratios, curves_ = [0.0, 0.5, 0.75, 1.0], []
    for mean in ([0.8, 0.5, 0.62, 0.5], [0.8, 0.7, 0.6, 0.5]):
        seeds = np.array(mean) + rng.normal(0, 0.01, (2, 4))
        curves_.append((seeds, seeds + rng.normal(0, 0.02, (500, 2, 4))))
    own, random = curves_
    found = leakage(ratios, own, random, 0.5)
    noise = {name: part[0][:, :3].var(0, ddof=1).mean() for name, part in (("own", own), ("random", random))}
    best = {}
    for s in (0, 1, "mean"):
        (mine, mine_drawn), (base, base_drawn) = (
            (c.mean(0), d.mean(1)) if s == "mean" else (c[s], d[:, s]) for c, d in (own, random)
        )
        for i, j in ((0, 1), (0, 2), (1, 2)):
            a = i - 1 if s != "mean" and i and mine[i - 1] > mine[i] else i
            trained = 2 * noise["random"] if s != "mean" else max(noise.values())  # two points; the mean of two seeds
            other = 2 * noise["random"] if s != "mean" else noise["random"]
            rise, rest = mine[j] - mine[a], base[j] - base[a]
            spread, gap = mine_drawn[:, j] - mine_drawn[:, a], base_drawn[:, j] - base_drawn[:, a]
            alone = stats.norm.sf(rise / np.sqrt(spread.var(ddof=1) + trained))
            beside = stats.norm.sf((rise - rest) / np.sqrt((spread - gap).var(ddof=1) + trained + other))
            best[s, a, j] = 9 * max(alone, beside), rise
    (_, start, end), (p, rise) = min(best.items(), key=lambda item: item[1][0])
    assert (found.start, found.end) == (ratios[start], ratios[end])
    assert (found.p, found.rise) == pytest.approx((p, rise))
    assert p < 0.5
    assert leakage(ratios, own, random, 1 - p / 2) is None


def test_a_flat_baseline_says_nothing():
    flat, gold = predictions(np.full(11, 0.5), seeds=2)
    flat = np.repeat(flat[:, :1], 11, 1)
    found = judge(RATIOS, flat, flat, gold, recursive=True)
    assert np.isnan(found.value)
    assert found.verdict == INCONCLUSIVE
    assert "loses nothing when everything is masked" in found.notes[0]
    with pytest.raises(InputError, match="give both as"):
        judge(RATIOS[:-1], flat, flat, gold, recursive=True)


def test_models_that_learned_nothing_lose_nothing():
    """The unmasked model answers one class as the floor does; that random's learned something in between is luck."""
    gold = np.arange(400) % 2
    nothing = np.zeros((2, 11, 400), int)
    random = nothing.copy()
    random[:, 5] = gold
    found = judge(RATIOS, nothing, random, gold, recursive=True)
    assert found.verdict == INCONCLUSIVE
    assert np.isnan(found.both.low)
    assert any("not significantly better than models that see only masks" in note for note in found.notes)
    learned = nothing.copy()
    learned[:, 0] = random[:, 0] = gold
    assert judge(RATIOS, learned, random, gold, recursive=True).verdict == FAITHFUL


def test_seeds_without_an_area_are_counted():
    gold = np.arange(40) % 2
    flat = np.zeros((2, 11, 40), int)
    falls = flat.copy()
    falls[0, 0] = gold
    found = judge(RATIOS, flat, falls, gold, recursive=True)
    assert "loses nothing when everything is masked in 1 of 2 seeds" in found.notes[0]


def test_a_baseline_that_falls_by_chance_leaves_no_sure_area():
    """The random curve falls by two texts of 400: many draws of texts have it rise."""
    gold = np.arange(400) % 2
    start, floor = gold.copy(), gold.copy()
    start[:40], floor[2:42] = 1 - gold[:40], 1 - gold[2:42]
    floor[42:44] = 1 - gold[42:44]
    random = np.stack([*[start] * 10, floor])[None]
    measure = np.stack([start, *[floor] * 10])[None]
    found = judge(RATIOS, measure, random, gold, recursive=True)
    assert np.isfinite(found.value)
    assert np.isnan(found.both.low)
    assert found.verdict == INCONCLUSIVE
    assert any("inconclusive: " in note for note in found.notes)


# --- the synthetic problem ---------------------------------------------------------------------------------------


def test_recursive_roar_is_the_truth():
    """Four informative features: recursion and truth are at chance after four steps, ROAR at the tenth (fact sheet)."""
    problem = Synthetic(train=4_000, test=4_000)
    truth, recursive = problem.curve("truth"), problem.curve("recursive")
    assert recursive[0] > 0.999
    assert recursive[:4].min() > 0.99
    assert np.abs(recursive[4:] - truth[4:]).max() < 0.02
    assert np.abs(recursive[4:] - 0.5).max() < 0.02
    roar = problem.curve("roar")
    assert roar[:10].min() > 0.99  # the first model's weights lie on features that say nothing
    assert np.abs(roar[10:] - 0.5).max() < 0.02
    worst = problem.curve("worst")
    assert worst[:14].min() > 0.99
    assert worst[14:] == pytest.approx([0.7939, 0.5064, 0.4984], abs=0.025)
    with pytest.raises(SpecError, match="unknown policy"):
        problem.curve("rorar")


@pytest.mark.parametrize("seed", [0, 3, 11])
def test_the_weights_go_where_the_closed_form_says(seed):
    """So the step at which ROAR falls is the rank of the last informative feature there, for any draw."""
    problem = Synthetic(train=4_000, test=2_000, seed=seed)
    x, y, _, _ = problem.data
    weights = fit(x, y)[:-1]
    aim = problem.direction
    assert weights @ aim / np.linalg.norm(weights) / np.linalg.norm(aim) > 0.9999
    falls = 1 + max(np.argsort(-np.abs(aim)).tolist().index(i) for i in range(4))
    roar = problem.curve("roar")
    usable = min(falls, 14)  # three unknowns need three features
    assert roar[:usable].min() > 0.99
    assert roar[usable:].max() < 0.9


@pytest.mark.simulation
def test_the_synthetic_problem_of_the_fact_sheet():
    """Section 6, with all 200,000 examples, to four digits."""
    problem = Synthetic()
    roar, recursive = problem.curve("roar"), problem.curve("recursive")
    assert np.abs(recursive[4:] - 0.4984).max() < 1e-4
    assert np.abs(recursive[4:] - problem.curve("truth")[4:]).max() < 1e-4
    assert roar[:10].min() > 0.9990
    assert np.abs(roar[10:] - 0.4984).max() < 1e-4
    worst = problem.curve("worst")
    assert worst[:14].min() > 0.9990
    assert worst[14:] == pytest.approx([0.7939, 0.5064, 0.4984], abs=1e-4)
