"""lime against a literal regression, additive games, and the facts about its masks and kernel."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import chisquare
from sklearn.linear_model import LinearRegression, Ridge

import toys
from assay.explainers.perturbation.lime import Lime, proximity, sample_keeps, weighted_ridge


def curved(keep):
    return np.tanh(keep @ np.linspace(-1, 2, keep.shape[1])) + 0.3 * keep[:, 0] * keep[:, -1]


def masks_of(method, n, seed=0):
    return next(method.flow(n, np.random.default_rng(seed)))


@pytest.mark.parametrize("n", [1, 2, 7, 20])
def test_recovers_an_additive_game(n):
    weight = np.random.default_rng(n).normal(size=n)
    scores = toys.play(Lime(samples=400, ridge=0.0), n, lambda keep: 0.7 + keep @ weight)
    assert np.allclose(scores, weight, atol=1e-8)


def test_a_constant_game_scores_nothing():
    for ridge in (0.0, 1.0):
        assert np.allclose(toys.play(Lime(ridge=ridge), 9, lambda keep: np.full(len(keep), 0.8)), 0, atol=1e-12)


@pytest.mark.parametrize("n", [1, 3, 12])
@pytest.mark.parametrize("ridge", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("width", [5.0, 25.0, 100.0])
def test_equals_a_literal_fit(n, ridge, width):
    """Row by row: cosine distance by its definition, the kernel of the authors, scikit-learn's weighted ridge."""
    method = Lime(samples=150, ridge=ridge, kernel_width=width)
    keep, rows, weights = masks_of(method, n), [], []
    for row in keep.astype(float):
        norm = math.sqrt(sum(x * x for x in row)) * math.sqrt(n)
        distance = 100 * (1 - (sum(row) / norm if norm else 0.0))
        rows.append(row)
        weights.append(math.sqrt(math.exp(-(distance**2) / width**2)))
    fit = Ridge(alpha=ridge, fit_intercept=True).fit(np.array(rows), curved(keep), sample_weight=np.array(weights))
    assert np.allclose(toys.play(method, n, curved), fit.coef_, atol=1e-9)


def test_without_a_penalty_it_is_weighted_least_squares():
    method = Lime(samples=300, ridge=0.0)
    keep = masks_of(method, 8)
    fit = LinearRegression().fit(keep, curved(keep), sample_weight=proximity(keep, 25.0))
    assert np.allclose(toys.play(method, 8, curved), fit.coef_, atol=1e-9)


def test_a_heavy_penalty_shrinks_the_scores():
    light, heavy = (np.abs(toys.play(Lime(ridge=r), 8, curved)).sum() for r in (0.1, 1e4))
    assert heavy < 0.05 * light


def test_the_intercept_is_not_penalised():
    keep = sample_keeps(6, 200, np.random.default_rng(0))
    x, weight = keep.astype(float), proximity(keep, 25.0)
    assert np.allclose(weighted_ridge(x, curved(keep), weight, 5.0), weighted_ridge(x, curved(keep) + 100, weight, 5.0))


def test_masks():
    """The input first; then 1..n units removed, each count as likely, each unit as likely."""
    n, samples = 10, 20_001
    keep = sample_keeps(n, samples, np.random.default_rng(0))
    assert keep.shape == (samples, n)
    assert keep[0].all()
    removed = n - keep[1:].sum(1)
    assert removed.min() == 1
    assert removed.max() == n
    assert chisquare(np.bincount(removed, minlength=n + 1)[1:]).pvalue > 1e-3  # uniform in 1..n
    assert chisquare((~keep).sum(0)).pvalue > 1e-3  # places alike
    pairs = np.triu(keep[1:].T.astype(float) @ keep[1:], 1)
    pairs = pairs[pairs > 0]
    assert pairs.std() < 4 * pairs.mean() ** 0.5  # and pairs of places


def test_the_kernel_at_its_ends():
    keep = np.zeros((3, 4), bool)
    keep[1:] = [[True] * 4, [True, False, False, False]]
    empty, full, quarter = proximity(keep, 25.0)
    assert math.isclose(full, 1.0)
    assert math.isclose(empty, math.exp(-0.5 * (100 / 25) ** 2))  # distance 100
    assert math.isclose(quarter, math.exp(-0.5 * (50 / 25) ** 2))  # cosine 1/2
