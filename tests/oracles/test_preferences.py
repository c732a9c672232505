"""Human judgements: TrueSkill against its library, strengths against choix, brute force and closed forms, agreement
against published formulas, and what the verdicts promise by simulation."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest
from scipy.optimize import minimize

from assay.core.errors import InputError
from assay.statistics.preferences.agreement import kendall_w, krippendorff_alpha, self_agreement
from assay.statistics.preferences.contrasts import contrasts
from assay.statistics.preferences.crossed import crossed_error
from assay.statistics.preferences.guesses import NO_EXPLANATION, Guess, simulatability, simulation_verdict
from assay.statistics.preferences.judgement import Judgement, Judgements, check_ranks, competition_ranks
from assay.statistics.preferences.luce import strengths
from assay.statistics.preferences.metric_agreement import metric_agreement
from assay.statistics.preferences.published import rank_groups, trueskill_ratings
from assay.statistics.preferences.verdict_words import preference_verdict

METHODS = ("gradient", "ig", "attention", "smat")


def simulated(log_alpha, participants, examples, rng, *, ties=0.1, own=0.0):
    """Rankings from known strengths: Gumbel noise (Plackett-Luce), close ones tied; `own`: tastes of participants."""
    rows = []
    tastes = rng.normal(0, own, (participants, len(log_alpha)))
    for p in range(participants):
        for e in range(examples):
            score = log_alpha + tastes[p] + rng.gumbel(size=len(log_alpha))
            order = np.argsort(-score)
            steps = np.cumsum([0, *(rng.random(len(order) - 1) >= ties)])
            ranks = competition_ranks([int(steps[list(order).index(i)]) for i in range(len(order))])
            rows.append(Judgement(f"p{p}", f"e{e:03}", dict(zip(METHODS, ranks, strict=False))))
    return rows


# --- ranks -----------------------------------------------------------------------------------------------------------


def test_valid_ranks_are_exactly_those_of_races():
    """Brute force: every race of four with ties, as the numbers of better ones, and nothing else."""
    valid = {tuple(1 + sum(o < own for o in times) for own in times) for times in np.ndindex(4, 4, 4, 4)}
    assert len(valid) == 75  # the weak orders of four
    for ranks in np.ndindex(5, 5, 5, 5):
        ranks = tuple(int(rank) for rank in ranks)
        if ranks in valid:
            check_ranks(list(ranks))
        else:
            with pytest.raises(InputError):
                check_ranks(list(ranks))


@pytest.mark.parametrize(
    ("ranks", "words"),
    [
        ([1, 1, 2], "2 explanations come before rank 2, so the next rank is 3, as in a race. Give 1, 1, 3"),
        ([2, 3, 3], "none is 1"),
        ([1, 3, 4, 4], "1 explanation comes before rank 3, so the next rank is 2"),
        ([1, 5, 2], "each must be a whole number from 1 (best) to 3 (worst)"),
        ([1], "at least two"),
    ],
)
def test_wrong_ranks_say_why(ranks, words):
    with pytest.raises(InputError) as error:
        check_ranks(ranks)
    assert words in str(error.value)


# --- TrueSkill -------------------------------------------------------------------------------------------------------


def test_trueskill_equals_the_library_on_the_published_settings():
    trueskill = pytest.importorskip("trueskill")
    rows = simulated(np.array([-1.0, -0.8, 0.3, 1.5]), 3, 20, np.random.default_rng(0))
    environment = trueskill.TrueSkill(mu=0, sigma=0.5)
    assert (environment.beta, environment.tau, environment.draw_probability) == pytest.approx((25 / 6, 25 / 300, 0.1))
    own = {name: trueskill.Rating(0, 0.5) for name in METHODS}
    for row in rows:
        teams = [{name: own[name]} for name in METHODS]
        for team in environment.rate(teams, ranks=[row.ranks[name] for name in METHODS]):
            own |= team
    ratings = trueskill_ratings(rows)
    assert {r.method: (r.mu, r.sigma) for r in ratings} == {name: (r.mu, r.sigma) for name, r in own.items()}
    assert [r.mu for r in ratings] == sorted((r.mu for r in ratings), reverse=True)


def test_rank_groups_of_the_paper():
    """Table 4 of Fernandes et al. (2022): 3-4, 3-4, 2, 1; and a chain whose ends differ is one group."""
    table = {"gradient": (-2.7, 0.67), "ig": (-2.1, 0.67), "attention": (0.7, 0.67), "smat": (4.3, 0.70)}
    expected = {"gradient": "3-4", "ig": "3-4", "attention": "2", "smat": "1"}
    assert rank_groups(table) == expected
    assert rank_groups({"a": (2.0, 0.5), "b": (0.5, 0.5), "c": (-1.0, 0.5)}) == {"a": "1-3", "b": "1-3", "c": "1-3"}


# --- strengths -------------------------------------------------------------------------------------------------------


def log_likelihood(judgements, log_alpha, log_delta):
    """The log likelihood of Davidson-Luce, stage by stage, as its definition says."""
    total = 0.0
    for row in judgements.ranks:
        left = [int(i) for i in np.flatnonzero(np.isfinite(row))]
        while len(left) > 1:
            best = [i for i in left if row[i] == min(row[j] for j in left)]
            sets = [s for size in (1, *log_delta) for s in combinations(left, size)]
            scores = [log_delta.get(len(s), 0.0) + np.mean(log_alpha[list(s)]) for s in sets]
            total += log_delta.get(len(best), 0.0) + np.mean(log_alpha[best]) - np.logaddexp.reduce(scores)
            left = [i for i in left if i not in best]
    return total


def by_name(rows):
    return {row.method: row.value for row in rows}


def test_two_methods_with_ties_have_the_closed_form_of_davidson():
    """The model of two methods fits the shares of wins exactly: log strength difference = log(wins / losses)."""
    counts = {(1, 2): 12, (2, 1): 5, (1, 1): 7}
    rows = [Judgement("p", f"{r}{i}", {"a": r[0], "b": r[1]}) for r, count in counts.items() for i in range(count)]
    found = by_name(strengths(Judgements(tuple(rows)), resamples=2, prior=0))
    assert found["a"] - found["b"] == pytest.approx(np.log(12 / 5), abs=1e-8)


def test_strengths_maximise_the_literal_likelihood():
    rows = simulated(np.array([-0.5, 0.0, 0.2, 1.0]), 3, 6, np.random.default_rng(1), ties=0.3)
    rows += [Judgement("p0", "pair", {"ig": 2, "smat": 1})]  # not all methods
    judgements = Judgements(tuple(rows))
    sizes = sorted({list(r.ranks.values()).count(rank) for r in rows for rank in r.ranks.values()} - {1})

    def loss(x):
        alpha, delta = x[:4], dict(zip(sizes, x[4:], strict=True))
        return -log_likelihood(judgements, alpha, delta) + 0.05 * (x**2).sum()

    best = minimize(loss, np.zeros(4 + len(sizes)), method="BFGS", options={"gtol": 1e-8}).x[:4]
    found = by_name(strengths(judgements, resamples=2))
    assert [found[m] for m in judgements.methods] == pytest.approx(list(best - best.mean()), abs=1e-5)


def test_without_ties_strengths_are_those_of_choix():
    choix = pytest.importorskip("choix")
    rows = simulated(np.array([-0.5, 0.0, 0.2, 1.0]), 2, 30, np.random.default_rng(2), ties=0.0)
    judgements = Judgements(tuple(rows))
    orders = [tuple(int(i) for i in np.argsort(row)) for row in judgements.ranks]
    peer = choix.opt_rankings(4, orders, alpha=0, tol=1e-10)
    found = by_name(strengths(judgements, resamples=2, prior=0))
    assert [found[m] for m in judgements.methods] == pytest.approx(list(peer - peer.mean()), abs=1e-5)


def test_a_method_that_always_wins_stays_finite():
    rows = [Judgement(f"p{p}", f"e{e}", {"a": 1, "b": 2}) for p in range(2) for e in range(50)]
    a, b = strengths(Judgements(tuple(rows)), resamples=50)
    assert (a.method, b.method) == ("a", "b")
    assert 2 < a.low <= a.value <= a.high < 10
    assert a.first > 0.99


def test_the_published_study_recovers_known_strengths():
    """3 annotators x 100 images: both analyses find the order, and the intervals hold the truth."""
    truth = np.array([-1.2, -0.6, 0.3, 1.5])
    judgements = Judgements(tuple(simulated(truth, 3, 100, np.random.default_rng(5), ties=0.0)))
    order = ["smat", "attention", "ig", "gradient"]
    assert [r.method for r in trueskill_ratings(judgements.rows)] == order
    found = strengths(judgements, resamples=200)
    assert [s.method for s in found] == order
    known = dict(zip(METHODS, truth - truth.mean(), strict=True))
    assert all(s.low < known[s.method] < s.high for s in found)
    assert (
        preference_verdict(contrasts(judgements), 3)[0]
        == "These 3 participants prefer smat to gradient, ig and attention."
    )


# --- contrasts -------------------------------------------------------------------------------------------------------


def test_the_error_of_a_balanced_table_follows_from_its_mean_squares():
    rng = np.random.default_rng(3)
    table = rng.normal(size=(6, 1)) + rng.normal(size=(1, 9)) + rng.normal(size=(6, 9))
    participant, example = (index.ravel() for index in np.indices(table.shape))
    found = crossed_error(((table - table.mean()) / table.size).ravel(), participant, example)
    p, e = table.shape
    ms_p = e * ((table.mean(1) - table.mean()) ** 2).sum() / (p - 1)
    ms_e = p * ((table.mean(0) - table.mean()) ** 2).sum() / (e - 1)
    total = ((table - table.mean()) ** 2).sum() / (table.size - 1)
    assert found.variance == pytest.approx((ms_p + ms_e - total) / table.size)


def test_wins_losses_and_ties_are_counted():
    ranks = [(1, 2), (1, 2), (2, 1), (1, 1)]
    rows = [Judgement(f"p{i % 2}", f"e{i}", dict(zip("ba", r, strict=True))) for i, r in enumerate(ranks)]
    (found,) = contrasts(Judgements(tuple(rows)))
    assert (found.preferred, found.other, found.wins, found.losses, found.n) == ("b", "a", 0.5, 0.25, 4)
    assert found.shown is None


def test_one_participant_says_nothing_about_people():
    rows = [Judgement("p", f"e{e}", {"a": 1, "b": 2}) for e in range(30)]
    (found,) = contrasts(Judgements(tuple(rows)))
    assert found.shown == "participants"
    assert preference_verdict([found], 1) == [
        "The one participant prefers a to b.",
        "That this is shared by other people cannot be shown: one participant says nothing about others.",
    ]


def test_nearly_all_agreeing_shows_no_more_than_all_agreeing():
    """Two or three participants who lean to the same side are no people, however small their spread: 2 / 2^n."""
    for participants, least in ((2, 0.5), (3, 0.25), (6, 2 / 2**6)):
        rows = [Judgement(f"p{p}", f"e{e}", {"a": 1, "b": 2}) for p in range(participants) for e in range(30)]
        (all_alike,) = contrasts(Judgements(tuple(rows)))
        rows[0] = Judgement("p0", "e0", {"a": 2, "b": 1})
        (nearly,) = contrasts(Judgements(tuple(rows)))
        assert all_alike.p_people == nearly.p_people == least
        assert nearly.shown == ("people" if participants == 6 else "participants")
        assert nearly.participants_needed == 6, "the first n with 2 / 2^n <= 0.05"


def test_many_participants_who_agree_are_people():
    rows = simulated(np.array([0.0, 0.0, 0.0, 2.0]), 12, 30, np.random.default_rng(6))
    words = preference_verdict(contrasts(Judgements(tuple(rows))), 12)
    assert words[0] == "People prefer smat to gradient, ig and attention." or words[0].startswith("People prefer smat")
    assert any("No preference can be shown between" in sentence for sentence in words)


@pytest.mark.simulation
def test_a_null_study_shows_no_preference_in_95_percent():
    """400 studies of the published size in which all methods are equal."""
    silent = 0
    for seed in range(400):
        rows = simulated(np.zeros(4), 3, 100, np.random.default_rng(seed))
        verdict = preference_verdict(contrasts(Judgements(tuple(rows)), seed=seed), 3)
        silent += verdict[0].startswith("No preference can be shown")
    error = 1.96 * np.sqrt(0.95 * 0.05 / 400)
    assert 0.95 - error <= silent / 400 <= 0.95 + error, silent


@pytest.mark.simulation
@pytest.mark.parametrize(("participants", "tastes"), [(8, 1.0), (3, 1.0), (3, 0.2), (2, 3.0), (3, 3.0)])
def test_tastes_of_participants_are_not_taken_for_those_of_people(participants, tastes):
    """Participants with strong tastes of their own that cancel out: at most 5 % of studies speak of people."""
    wrong = own = 0
    for seed in range(400):
        rows = simulated(np.zeros(4), participants, 40, np.random.default_rng(seed), own=tastes)
        found = contrasts(Judgements(tuple(rows)), seed=seed)
        wrong += any(c.shown == "people" for c in found)
        own += any(c.shown == "participants" for c in found)
    assert wrong / 400 <= 0.05 + 2.58 * np.sqrt(0.05 * 0.95 / 400), wrong
    assert own > (200 if tastes >= 1.0 else 0)  # a test that ignores participants would speak of people there


@pytest.mark.simulation
def test_the_number_of_participants_that_is_asked_for_is_enough():
    """Pilot studies ask for n participants; with n, the difference is shown in most studies."""
    truth, shown = np.array([0.0, 0.6]), 0
    needed = []
    for seed in range(40):
        rows = simulated(truth, 5, 20, np.random.default_rng(seed), own=0.3)
        (found,) = contrasts(Judgements(tuple(rows)))
        needed += [found.participants_needed or 1000]
    n = int(np.median(needed))
    for seed in range(200):
        rows = simulated(truth, n, 20, np.random.default_rng(1000 + seed), own=0.3)
        (found,) = contrasts(Judgements(tuple(rows)), seed=seed)
        shown += found.shown == "people" and found.preferred == "ig"
    assert shown / 200 > 0.6, (n, shown)


# --- agreement -------------------------------------------------------------------------------------------------------


def test_alpha_of_ranks_follows_krippendorffs_formula():
    """alpha = 1 - D_o / D_e with the ordinal distance, from every pair of values: the definition (2011)."""
    rows = simulated(np.array([-1.0, 0.0, 0.0, 1.0]), 3, 6, np.random.default_rng(7), ties=0.2)[:-2]
    judgements = Judgements(tuple(rows))
    units = {}
    for row in rows:
        for method, rank in row.ranks.items():
            units.setdefault((row.example, method), []).append(rank)
    units = [values for values in units.values() if len(values) > 1]
    everything = [value for values in units for value in values]
    count = {rank: everything.count(rank) for rank in range(1, 5)}

    def distance(a, b):
        low, high = sorted((a, b))
        return (sum(count[r] for r in range(low, high + 1)) - (count[low] + count[high]) / 2) ** 2

    n = len(everything)
    observed = sum(sum(distance(a, b) for a, b in permutations(v, 2)) / (len(v) - 1) for v in units) / n
    expected = sum(distance(a, b) for a, b in permutations(everything, 2)) / (n * (n - 1))
    found = krippendorff_alpha(judgements, resamples=20)
    assert found.value == pytest.approx(1 - observed / expected)


def test_kendalls_w_with_ties_is_the_mean_spearman_correlation():
    """W = (1 + (m - 1) mean ρ) / m without ties; with ties, two who agree give 1 and two opposite ones 0."""
    from scipy.stats import spearmanr

    ranks = [[1, 2, 3, 4], [2, 1, 3, 4], [4, 1, 2, 3]]
    rows = [Judgement(f"p{i}", "e", dict(zip(METHODS, r, strict=True))) for i, r in enumerate(ranks)]
    mean = np.mean([spearmanr(a, b).statistic for a, b in combinations(ranks, 2)])
    assert kendall_w(Judgements(tuple(rows)), resamples=5).value == pytest.approx((1 + 2 * mean) / 3)
    tied = [Judgement(f"p{i}", "e", dict(zip(METHODS, (1, 1, 3, 4), strict=True))) for i in range(2)]
    assert kendall_w(Judgements(tuple(tied)), resamples=5).value == pytest.approx(1.0)
    opposite = [tied[0], Judgement("p1", "e", dict(zip(METHODS, (3, 3, 2, 1), strict=True)))]
    assert kendall_w(Judgements(tuple(opposite)), resamples=5).value == pytest.approx(0.0)


def test_random_order_has_the_agreement_of_chance():
    rows = simulated(np.zeros(4), 3, 60, np.random.default_rng(8))
    judgements = Judgements(tuple(rows))
    alpha, w = krippendorff_alpha(judgements, resamples=40), kendall_w(judgements, resamples=40)
    assert alpha.random == pytest.approx(0, abs=0.02)
    assert w.random == pytest.approx(1 / 3, abs=0.02)
    assert alpha.p > 0.05
    assert "not above that of random order" in alpha.sentence
    strong = Judgements(tuple(simulated(np.array([-2.0, 0, 0, 2.0]), 3, 60, np.random.default_rng(9))))
    assert krippendorff_alpha(strong, resamples=40).p < 0.05
    assert kendall_w(strong, resamples=40).low > w.random


def test_self_agreement_counts_pairs_ordered_alike():
    first = Judgement("p", "e", {"a": 1, "b": 2, "c": 3})
    again = Judgement("p", "e", {"a": 2, "b": 1, "c": 3})  # a-b turned, a-c and b-c the same
    assert self_agreement([(first, again)]).value == pytest.approx(2 / 3)
    assert self_agreement([(first, first)] * 30, draws=100).random == pytest.approx(0.5, abs=0.03)
    assert np.isnan(self_agreement([]).value)


# --- forward simulation and metrics ----------------------------------------------------------------------------------


def guesses(rates, participants, examples, rng):
    conditions = list(rates)
    return [
        Guess(f"p{p}", f"e{e}", name, bool(rng.random() < rates[name]))
        for p in range(participants)
        for e in range(examples)
        for name in [conditions[(p + e) % len(conditions)]]
    ]


def test_forward_simulation_is_scored_against_no_explanation():
    rows = simulatability(guesses({NO_EXPLANATION: 0.5, "good": 0.9, "same": 0.5}, 12, 60, np.random.default_rng(0)))
    assert rows[0].condition == NO_EXPLANATION
    assert np.isnan(rows[0].gain)
    good, same = rows[1:]
    assert good.condition == "good"
    assert good.gain == pytest.approx(good.value - rows[0].value)
    assert good.gain_low > 0.2
    assert same.gain_low < 0 < same.gain_high
    words = " ".join(simulation_verdict(rows, 12))
    assert "Explanations by good" in words
    assert "No effect can be shown for same" in words
    assert "participants or more examples would be needed" in words


def test_guesses_need_a_control():
    with pytest.raises(InputError, match="nothing to compare with"):
        simulatability([Guess("p", "e", "lime", True)])


@pytest.mark.simulation
def test_forward_simulation_of_useless_explanations_shows_no_effect_in_95_percent():
    wrong = 0
    for seed in range(400):
        rates = {NO_EXPLANATION: 0.6, "a": 0.6, "b": 0.6}
        rows = simulatability(guesses(rates, 12, 30, np.random.default_rng(seed)))
        wrong += any(row.p <= 0.05 for row in rows[1:])
    assert wrong / 400 <= 0.05 + 2.58 * np.sqrt(0.05 * 0.95 / 400), wrong


def test_agreement_with_a_metric():
    rows = [
        Judgement(f"p{p}", f"e{e}", dict(zip(METHODS, (1, 2, 3, 4), strict=True))) for p in range(2) for e in range(40)
    ]
    judgements = Judgements(tuple(rows))
    values = {f"e{e}": dict(zip(METHODS, (0.4, 0.3, 0.2, 0.1), strict=True)) for e in range(39)}
    same = metric_agreement("comprehensiveness", judgements, values, higher_is_better=True)
    assert (same.correlation.value, same.correlation.n) == (pytest.approx(1.0), 39)
    assert same.sentence.startswith("What people prefer agrees with comprehensiveness")
    opposite = metric_agreement("sufficiency", judgements, values, higher_is_better=False)
    assert opposite.correlation.value == pytest.approx(-1.0)
    assert "contradicts sufficiency" in opposite.sentence
    none = metric_agreement("deletion", judgements, {}, higher_is_better=True)
    assert none.correlation.n == 0


def unanimous(participants: str, right: dict[str, bool]) -> list[Guess]:
    return [
        Guess(p, e, condition, correct) for p in participants for e in "efgh" for condition, correct in right.items()
    ]


def test_unanimous_guesses_are_no_certainty() -> None:
    """Four of four agree with p = 2 / 2^4; three cannot be enough, and an interval without width would be."""
    rows = simulatability(unanimous("pqrs", {NO_EXPLANATION: False, "lime": True}))
    assert rows[1].p == 0.125
    assert rows[1].participants_needed == 6, "the first n with 2 / 2^n <= 0.05"
    assert all(np.isnan(bound) for bound in (rows[1].low, rows[1].high, rows[1].gain_low, rows[1].gain_high))
    assert "about 6 participants would be needed" in " ".join(simulation_verdict(rows, 4))
    assert simulatability(unanimous("pqrstu", {NO_EXPLANATION: False, "lime": True}))[1].p <= 0.05


def test_one_who_guesses_says_nothing_about_others() -> None:
    rows = simulatability(unanimous("p", {NO_EXPLANATION: False, "lime": True}))
    assert rows[1].participants_needed is None
    assert simulation_verdict(rows, 1) == [
        "No effect can be shown for lime: one participant says nothing about others."
    ]


def test_one_example_is_not_helped_by_more_participants() -> None:
    rows = [Judgement(f"p{p}", "e", {"a": 1, "b": 2}) for p in range(5)]
    (found,) = contrasts(Judgements(tuple(rows)))
    assert found.participants_needed is None
    assert "or more examples" in preference_verdict([found], 5)[0]


def test_what_has_no_interval_shows_none() -> None:
    """Agreement on one example, and a metric beside one example: neither a width of 0 nor "[nan, nan]"."""
    one = Judgement("p", "e", {"a": 1, "b": 2})
    judgements = Judgements((one, Judgement("q", "e", {"a": 1, "b": 2})))
    for found in (krippendorff_alpha(judgements, resamples=9), kendall_w(judgements, resamples=9)):
        assert np.isnan(found.low), found.name
        assert " 1.00, " in found.sentence
    assert self_agreement([(one, one)], draws=9).sentence.startswith("Self-agreement 1.00, ")
    beside = metric_agreement("deletion", judgements, {"e": {"a": 2.0, "b": 1.0}}, higher_is_better=True)
    assert beside.sentence == (
        "No relation of what people prefer to deletion can be shown (mean rank correlation +1.00, n = 1). "
        "Caution: 1 example is few."
    )


def test_no_gain_and_no_explanation_get_sentences() -> None:
    same = simulation_verdict(simulatability(unanimous("pq", {NO_EXPLANATION: True, "lime": True})), 2)
    assert same == ["No effect can be shown for lime: guesses are right as often with an explanation as without."]
    assert simulation_verdict(simulatability(unanimous("pq", {NO_EXPLANATION: True})), 2) == [
        "Nobody has guessed with an explanation yet."
    ]
