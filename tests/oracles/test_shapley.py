"""kernel_shap against Shapley's definition, enumerated literally; seen only through `flow` and a game in Python."""

from __future__ import annotations

import math
from itertools import combinations, permutations

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import toys
from assay.explainers.perturbation.kernel_shap import KernelShap

few = pytest.mark.filterwarnings("ignore:kernel_shap.*too few samples for")  # the point of these tests


@pytest.fixture(autouse=True)
def one_thread():
    """Many small solves: threads that wait for one another make them ten times slower on a busy machine."""
    with threadpool_limits(1):
        yield


def random_game(n, seed):
    """Any value whatever for each of the 2^n coalitions."""
    table = np.random.default_rng((n, seed)).normal(size=2**n)
    return lambda keep: table[keep @ (1 << np.arange(n))]


def smooth_game(n, seed):
    """What a classifier does: a probability of effects that add up and effects of pairs."""
    rng = np.random.default_rng((n, seed))
    single, pair = rng.normal(size=n), rng.normal(size=(n, n)) / n**0.5
    return lambda keep: 1 / (1 + np.exp(-(keep @ single + np.einsum("mi,ij,mj->m", keep, pair, keep) - 0.5)))


def value(game, members, n):
    keep = np.zeros((1, n), bool)
    keep[0, list(members)] = True
    return float(np.asarray(game(keep))[0])


def by_permutations(game, n):
    """The mean over all orders of arrival of what each player adds on arrival."""
    known = {m: value(game, m, n) for size in range(n + 1) for m in combinations(range(n), size)}
    total = np.zeros(n)
    for order in permutations(range(n)):
        for place, player in enumerate(order):
            before = tuple(sorted(order[:place]))
            total[player] += known[tuple(sorted((*before, player)))] - known[before]
    return total / math.factorial(n)


def by_subsets(game, n):
    """phi_i = sum over S without i of |S|! (n-|S|-1)! / n! (v(S and i) - v(S))."""
    phi = np.zeros(n)
    for i in range(n):
        others = [j for j in range(n) if j != i]
        for size in range(n):
            weight = math.factorial(size) * math.factorial(n - size - 1) / math.factorial(n)
            for subset in combinations(others, size):
                phi[i] += weight * (value(game, (*subset, i), n) - value(game, subset, n))
    return phi


@pytest.mark.parametrize("n", range(1, 8))
@pytest.mark.parametrize("game", [random_game, smooth_game])
def test_equals_all_orders_of_arrival(n, game):
    for seed in range(2):
        v = game(n, seed)
        truth = by_permutations(v, n)
        assert np.allclose(by_subsets(v, n), truth, atol=1e-12)  # two literal versions of the definition
        assert np.allclose(toys.play(KernelShap(samples=max(4, 2**n)), n, v), truth, atol=1e-10)


@pytest.mark.parametrize("n", [8, 9, 10])
def test_equals_the_formula_over_subsets(n):
    v = random_game(n, 0)
    assert np.allclose(toys.play(KernelShap(samples=2**n), n, v), by_subsets(v, n), atol=1e-9)


@few
@pytest.mark.parametrize("n", [1, 2, 3, 8, 14, 30, 70])
@pytest.mark.parametrize("samples", [8, 64, 512])
def test_efficiency(n, samples):
    """Scores sum to v(all) - v(none), however few masks were asked for."""
    v = smooth_game(n, 1)
    phi = toys.play(KernelShap(samples=samples), n, v)
    assert phi.shape == (n,)
    assert np.isfinite(phi).all()
    assert math.isclose(phi.sum(), value(v, range(n), n) - value(v, (), n), abs_tol=1e-9)


@pytest.mark.parametrize("n", [6, 10])
def test_symmetry_and_dummy(n):
    """Players 0 and 1 are interchangeable, player 2 never changes the value."""

    def v(keep):
        rest = keep[:, 3:] @ np.arange(1, n - 2)
        return (keep[:, 0] | keep[:, 1]) * (1 + rest**2) + keep[:, 0] * keep[:, 1] + np.sin(rest)

    phi = toys.play(KernelShap(samples=2**n), n, v)
    assert math.isclose(phi[0], phi[1], abs_tol=1e-9)
    assert abs(phi[2]) < 1e-9
    assert abs(phi[0]) > 0.5


@pytest.mark.parametrize(("n", "samples"), [(5, 32), (12, 64), (14, 100), (20, 128), (40, 512)])
def test_additive_games_are_exact_also_when_sampled(n, samples):
    weight = np.random.default_rng(n).normal(size=n)
    phi = toys.play(KernelShap(samples=samples), n, lambda keep: 3.0 + keep @ weight)
    assert np.allclose(phi, weight, atol=1e-8)


def errors(n, game, budgets, seeds):
    """Root mean square error of one run, and of the mean of all runs, for each budget."""
    truth = toys.play(KernelShap(samples=2**n), n, game)
    runs = [np.array([toys.play(KernelShap(samples=m), n, game, seed) for seed in range(seeds)]) for m in budgets]
    one = [float(np.sqrt(((run - truth) ** 2).mean())) for run in runs]
    mean = [float(np.sqrt(((run.mean(0) - truth) ** 2).mean())) for run in runs]
    return np.array(one), np.array(mean), np.abs(truth).max()


def test_error_falls_with_samples():
    """n = 14, so nothing below 16,384 masks is exact: the error falls faster than 1/sqrt(samples)."""
    one, _, top = errors(14, smooth_game(14, 4), [64, 256, 1024], seeds=6)
    assert (one[1:] < 0.5 * one[:-1]).all()
    assert one[-1] < 0.03 * top


def test_more_seeds_remove_most_of_the_error():
    """Nearly unbiased: the mean of 40 runs is far nearer than one run, and the bias that is left falls with samples."""
    for seed in (4, 7):
        one, mean, top = errors(14, smooth_game(14, seed), [200, 600], seeds=40)
        assert (mean < 0.5 * one).all()
        assert mean[1] < 0.6 * mean[0]
        assert mean[1] < 0.01 * top


@few
def test_never_asks_for_more_than_its_samples():
    for n in (1, 2, 3, 5, 9, 14, 33):
        for samples in (4, 5, 31, 200):
            asked = []

            def v(keep, asked=asked):
                asked.extend(row.tobytes() for row in keep)
                return keep.sum(1) / 2.0

            toys.play(KernelShap(samples=samples), n, v)
            assert len(set(asked)) <= samples


def test_a_seed_gives_the_same_answer():
    v = smooth_game(20, 0)
    first, again, other = (toys.play(KernelShap(samples=100), 20, v, seed) for seed in (0, 0, 1))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
