"""Search against brute force over all orders, a slow literal version of the paper, and games with known answers."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from math import comb, factorial
from typing import ClassVar

import numpy as np
import pytest

import assay
from assay.core.errors import SpecError
from assay.core.metric_facts import MetricFacts
from assay.core.spec import Spec
from assay.explainers import METHODS
from assay.explainers.search._objective import PrefixSum, prefix_weights
from assay.explainers.search.beam_search import BeamSearch, signed_ranks
from assay.explainers.search.greedy import Greedy
from assay.faithfulness import FAITHFULNESS
from assay.faithfulness.protocol import PROTOCOLS
from toys import bert

SOLVEX = ("comp_suff", "comp", "suff")
AOPC = [f"{name}(protocol={p}, aopc=True)" for name in ("comprehensiveness", "sufficiency") for p in PROTOCOLS]
METRICS = [*(f"{name}(protocol={p})" for name in FAITHFULNESS.names for p in PROTOCOLS), *AOPC]


def random_game(n, seed=0):
    """Any value for any mask, and a count of the distinct masks asked for."""
    table, asked = np.random.default_rng(seed).random(2**n), set()

    def game(keep):
        index = (keep * (1 << np.arange(n))).sum(1)
        asked.update(index.tolist())
        return table[index]

    return game, asked


def found(method, n, game):
    """Scores and what else the method says."""
    flow, answer = method.flow(n, np.random.default_rng(0)), None
    try:
        while True:
            answer = game(np.asarray(flow.send(answer), bool))
    except StopIteration as stop:
        return stop.value.scores, stop.value.extra


def value(game, n, units):
    return float(game(np.isin(np.arange(n), list(units))[None])[0])


def step(objective, game, n, chosen):
    """The paper's score of a set, from its definition."""
    full, kept = value(game, n, range(n)), value(game, n, chosen)
    removed = value(game, n, set(range(n)) - set(chosen))
    return {"comp_suff": kept - removed, "comp": full - removed, "suff": kept - full}[objective]


# --- brute force -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("objective", SOLVEX)
@pytest.mark.parametrize("n", [1, 2, 3, 5, 6])
def test_a_beam_that_covers_all_sets_finds_the_best_order(objective, n):
    game, _ = random_game(n, seed=n)
    scores, extra = found(BeamSearch(objective, beam=comb(n, n // 2)), n, game)
    totals = {
        order: sum(step(objective, game, n, order[:size]) for size in range(1, n)) for order in permutations(range(n))
    }
    assert len(totals) == factorial(n)
    assert extra["exact"] is True
    assert extra["objective_value"] == pytest.approx(max(totals.values()), abs=1e-12)
    assert totals[tuple(extra["order"])] == pytest.approx(max(totals.values()), abs=1e-12)
    assert np.argsort(-scores).tolist() == extra["order"]


@pytest.mark.parametrize("metric", METRICS)
def test_any_metric_can_be_the_objective(metric):
    """Its best value over all orders, in its own direction, though it looks at some sizes only."""
    n, made = 6, FAITHFULNESS.make(metric)
    game, _ = random_game(n, seed=3)
    full = value(game, n, range(n))
    all_values = [made.measure(game(made.keeps(np.array(order))), full) for order in permutations(range(n))]
    _, extra = found(METHODS.make(f"beam_search({metric}, beam=20)"), n, game)
    best = max(all_values) if made.facts.better == "higher" else min(all_values)
    assert extra["objective_value"] == pytest.approx(best, abs=1e-12)
    assert extra["exact"] is True
    assert sorted(extra["order"]) == list(range(n))


def literal_beam(objective, game, n, size):
    """Beam search as the paper tells it, over orders, one mask at a time; of equal sets only the best order stays."""
    beam = [((), 0.0)]
    for _ in range(n - 1):
        best = {}
        for order, total in beam:
            for unit in set(range(n)) - set(order):
                longer = (*order, unit)
                score = total + step(objective, game, n, longer)
                key = frozenset(longer)
                if key not in best or score > best[key][1]:
                    best[key] = (longer, score)
        beam = sorted(best.values(), key=lambda pair: -pair[1])[:size]
    order, total = beam[0]
    return [*order, *(set(range(n)) - set(order))], total


@pytest.mark.parametrize("objective", SOLVEX)
@pytest.mark.parametrize("beam", [1, 2, 5])
@pytest.mark.parametrize("seed", range(3))
def test_a_narrow_beam_is_the_literal_one(objective, beam, seed):
    game, _ = random_game(7, seed)
    order, total = literal_beam(objective, game, 7, beam)
    _, extra = found(BeamSearch(objective, beam), 7, game)
    assert (extra["order"], extra["exact"]) == (order, False)
    assert extra["objective_value"] == pytest.approx(total, abs=1e-12)


def test_greedy_is_a_beam_of_one():
    game, _ = random_game(7, 5)
    greedy, beam = found(Greedy(), 7, game), found(BeamSearch(beam=1), 7, game)
    assert np.array_equal(greedy[0], beam[0])
    assert greedy[1] == beam[1]
    assert greedy[1]["order"] == literal_beam("comp_suff", game, 7, 1)[0]


def test_a_wider_beam_finds_what_greed_misses():
    """Units 0 and 1 only matter together: the first step cannot see it, a wide beam can."""
    weights = np.array([0.0, 0.0, 0.2, 0.1, 0.05])

    def game(keep):
        return keep @ weights + 2.0 * (keep[:, 0] & keep[:, 1])

    assert found(BeamSearch("suff", beam=20), 5, game)[1]["order"][:2] == [0, 1]
    assert found(Greedy("suff"), 5, game)[1]["order"][0] == 2


# --- known answers -----------------------------------------------------------------------------------------------

CONTRIBUTIONS = np.array([0.3, -0.2, 1.1, 0.0, -0.9, 0.5, 0.05, -0.01])


def additive(keep):
    return keep @ CONTRIBUTIONS + 0.7


@pytest.mark.parametrize("method", ["greedy", "greedy(comp)", "greedy(suff)", "beam_search", "beam_search(beam=300)"])
def test_an_additive_game_is_sorted_by_contribution(method):
    scores, extra = found(METHODS.make(method), 8, additive)
    assert extra["order"] == np.argsort(-CONTRIBUTIONS).tolist()
    nonzero = CONTRIBUTIONS != 0
    assert (np.sign(scores) == np.sign(CONTRIBUTIONS))[nonzero].all()


@pytest.mark.parametrize(
    "metric", ["comprehensiveness(protocol=aml, aopc=True)", "log_odds", "sufficiency(protocol=aml)"]
)
def test_units_behind_the_last_size_follow_by_their_effect(metric):
    """Such a metric does not care about the order of the rest; we still give the sensible one."""
    _, extra = found(METHODS.make(f"greedy({metric})"), 8, additive)
    assert extra["order"] == np.argsort(-CONTRIBUTIONS).tolist()


def test_the_offset_makes_most_signs_agree():
    order = np.array([2, 0, 3, 1])
    effect = np.array([0.5, -0.1, 0.9, -0.2])  # 2 and 0 speak for, 3 and 1 against
    assert signed_ranks(order, effect).tolist() == [0.5, -1.5, 1.5, -0.5]
    assert signed_ranks(order, -np.ones(4)).tolist() == [-1.5, -3.5, -0.5, -2.5]  # all against
    assert signed_ranks(order, np.zeros(4)).tolist() == [2.5, 0.5, 3.5, 1.5]  # nothing agrees: the first offset
    for seed in range(20):
        effect = np.random.default_rng(seed).normal(size=4)
        most = max(sum(np.sign(3 - i - o) == np.sign(effect[u]) for i, u in enumerate(order)) for o in OFFSETS)
        scores = signed_ranks(order, effect)
        assert (np.sign(scores) == np.sign(effect)).sum() == most
        assert np.argsort(-scores).tolist() == order.tolist()


OFFSETS = (-0.5, 0.5, 1.5, 2.5, 3.5)


def test_equal_units_keep_their_order():
    _, extra = found(BeamSearch(), 6, lambda keep: keep.sum(1) / 6.0)
    assert extra["order"] == list(range(6))


def test_rounding_does_not_rank_units_that_do_nothing():
    """As a sliding window makes them: the values of one mask differ in the last digit from batch to batch."""

    def noisy(seed):
        rng = np.random.default_rng(seed)
        return lambda keep: 0.6 + keep @ np.array([0, 0, 0, 0, 0.2, 0.0, -0.1]) + 1e-7 * rng.standard_normal(len(keep))

    results = [found(BeamSearch(beam=3), 7, noisy(seed)) for seed in range(5)]
    for scores, extra in results:
        assert extra["order"] == [4, 0, 1, 2, 3, 5, 6]
        assert np.array_equal(scores, results[0][0])


# --- cost --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 4, 7, 9])
@pytest.mark.parametrize("beam", [1, 3, 200])
def test_it_asks_for_no_more_masks_than_it_says(n, beam):
    game, asked = random_game(n)
    found(BeamSearch(beam=beam), n, game)
    assert len(asked) <= min(2**n, beam * n * (n + 1) + n)
    if beam == 200:
        assert len(asked) == 2**n - 1 + (n == 1)  # every mask but the empty one; of one unit only that


def test_one_half_of_the_objective_asks_for_half_the_masks():
    for objective, kind in (("comp", "removed"), ("suff", "kept")):
        game, asked = random_game(8)
        found(Greedy(objective), 8, game)
        assert len(asked) <= 8 * 9 / 2 + 9, kind


def test_a_metric_of_few_sizes_stops_early():
    """AML's sufficiency looks at one fifth: two of twelve units, so two steps are enough."""
    game, asked = random_game(12)
    found(Greedy("sufficiency(protocol=aml)"), 12, game)
    assert len(asked) == 1 + 12 + 12 + 11


# --- on a model --------------------------------------------------------------------------------------------------

TEXTS = ["a modest pleasure that accomplishes its goals", "the plot is thin and bad"]


@pytest.mark.parametrize(
    "metric",
    ["log_odds(protocol=thesis)", "comprehensiveness(protocol=thesis, aopc=True)", "sufficiency(protocol=thesis)"],
)
def test_what_it_reports_is_what_the_evaluation_measures(metric, tmp_path):
    """Scale, class and formula are the metric's own, where the removal is the same."""
    spec = f"beam_search({metric}, beam=4)"
    options = {"removal": "mask_token", "progress": False, "store": tmp_path}
    result = assay.evaluate(bert(), assay.load_dataset(TEXTS), [spec, "greedy"], [metric], **options).evaluation
    (values,) = result.values.values()
    reported = [a.extra["objective_value"] for a in result.shown[spec]]
    assert values[spec] == pytest.approx(reported, abs=1e-6)
    gain = (values[spec] - values["greedy"]) * (1 if FAITHFULNESS.make(metric).facts.better == "higher" else -1)
    assert (gain >= -1e-6).all()  # what it optimises it does best, on these


def test_the_scale_follows_the_metric():
    a = assay.explain(bert(), TEXTS[0], "greedy(objective=log_odds)", progress=False)
    assert a.target.scale == "log_probability"
    assert assay.explain(bert(), TEXTS[0], "greedy", progress=False).target.scale == "probability"


# --- words -------------------------------------------------------------------------------------------------------


def test_one_objective_has_one_name():
    spellings = [
        "beam_search('comp-suff')",
        "beam_search(comp_suff)",
        "beam_search",
        "beam_search(objective=comp_suff)",
    ]
    assert {Spec.of(METHODS.make(s)).hash for s in spellings} == {Spec.of(BeamSearch()).hash}
    quoted, bare = (METHODS.make(s) for s in ("greedy('log_odds(protocol=aml)')", "greedy(log_odds(protocol=aml))"))
    assert quoted == bare
    assert METHODS.make(str(Spec.of(bare))) == bare


@dataclass(frozen=True)
class Largest:
    """No sum: the largest of the values."""

    protocol: str = "eraser"
    facts: ClassVar[MetricFacts] = MetricFacts(better="higher", range="any number")

    def keeps(self, order):
        return PrefixSum(True, False).keeps(order)

    def measure(self, values, value_full):
        return float(values.max(initial=0.0))


@dataclass(frozen=True)
class Ends:
    """No prefix: the first and the last unit of an order."""

    facts: ClassVar[MetricFacts] = MetricFacts(better="higher", range="any number")

    def keeps(self, order):
        return np.isin(np.arange(len(order)), [order[0], order[-1]])[None]

    def measure(self, values, value_full):
        return float(values.sum())


def test_bad_objectives_get_a_sentence():
    with pytest.raises(SpecError, match="unknown objective 'comprehensivness'; did you mean 'comprehensiveness'"):
        METHODS.make("beam_search(comprehensivness)")
    with pytest.raises(SpecError, match="beam must be at least 1"):
        METHODS.make("beam_search(beam=0)")
    with pytest.raises(SpecError, match="no parameter 'fraction'"):
        METHODS.make("greedy(log_odds(fraction=1))")
    with pytest.raises(SpecError, match="largest is not a weighted sum"):
        prefix_weights(Largest(), 4)
    with pytest.raises(SpecError, match="ends needs other masks than prefixes"):
        prefix_weights(Ends(), 4)
