"""Integrated gradients and its random relatives on transformers: quadrature, completeness, convergence."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import assay
import toys
from assay.explainers.gradient._quadrature import SCAN, adaptive, quadrature

TEXTS = ["a modest pleasure that accomplishes its goals", "the plot is thin , the acting is good and the ending is bad"]


@pytest.fixture(scope="module")
def model():
    return toys.bert(seed=1)


@pytest.mark.parametrize("steps", [1, 2, 5, 20])
def test_quadrature_integrates_polynomials(steps):
    """Gauss-Legendre with m nodes: x^k for every k < 2m, and not for k = 2m. The Riemann sums: literally."""
    nodes, weights = quadrature("gauss_legendre", steps)
    for k in range(2 * steps):
        assert np.isclose(weights @ nodes**k, 1 / (k + 1), atol=1e-14)
    if steps < 5:
        assert not np.isclose(weights @ nodes ** (2 * steps), 1 / (2 * steps + 1), atol=1e-7)
    for rule, points in {
        "left": [k / steps for k in range(steps)],
        "right": [(k + 1) / steps for k in range(steps)],
        "middle": [(k + 0.5) / steps for k in range(steps)],
    }.items():
        nodes, weights = quadrature(rule, steps)
        assert np.allclose(nodes, points)
        assert np.allclose(weights, 1 / steps)


@pytest.mark.parametrize("place", [0.03, 0.4, 0.77])
def test_adaptive_nodes_go_where_the_value_changes(place):
    """v(a) = 1 / (1 + exp(-(a - place) / 0.02)): its slope is integrated from few nodes, wherever the step is."""

    def value(a):
        return 1 / (1 + np.exp(-(a - place) / 0.02))

    values = value(np.linspace(0, 1, SCAN))[None]
    errors = {}
    for steps in (6, 12, 24, 48):
        nodes, weights = adaptive(values, steps)
        assert nodes.shape == weights.shape == (1, steps)
        assert (np.diff(nodes[0]) > 0).all()
        assert 0 <= nodes.min() < nodes.max() <= 1
        assert np.isclose(weights.sum(), 1)
        assert (weights > 0).all()
        for name, (a, w) in {"adaptive": (nodes[0], weights[0]), "even": quadrature("gauss_legendre", steps)}.items():
            errors[name, steps] = abs(w @ (value(a) * (1 - value(a)) / 0.02) - (value(1.0) - value(0.0)))
    assert errors["adaptive", 24] < 0.2 * max(errors["even", 24], 0.02)
    assert errors["adaptive", 48] < 1e-3
    nodes, weights = adaptive(values, 64)
    assert np.isclose(weights[0] @ nodes[0] ** 2, 1 / 3, atol=1e-6)  # still the integral over [0, 1]


@pytest.mark.parametrize("rule", ["gauss_legendre", "middle", "left", "right"])
def test_equals_a_literal_sum_of_gradients(model, rule):
    """One gradient after the other through inputs_embeds, added up in float64."""
    text, steps = TEXTS[0], 6
    ids = torch.tensor([model.tokenizer(text)["input_ids"]])
    reference = ids.clone()
    reference[0, 1:-1] = model.tokenizer.mask_token_id
    words = model.hf.get_input_embeddings()
    x, r = words(ids).detach(), words(reference).detach()
    nodes, weights = quadrature(rule, steps)
    total = torch.zeros_like(x, dtype=torch.float64)
    for a, w in zip(nodes, weights, strict=True):
        point = (r + a * (x - r)).float().requires_grad_()
        model.hf(inputs_embeds=point).logits[0, 0].backward()
        total += w * point.grad.double()
    truth = ((x - r) * total).sum(-1)[0, 1:-1].numpy()
    found = assay.explain(model, text, f"integrated_gradients(steps={steps}, rule={rule})", target=0)
    assert np.allclose(found.scores, truth, atol=1e-5 * np.abs(truth).max())
    model.hf.zero_grad()


@pytest.mark.parametrize("rule", ["adaptive", "gauss_legendre"])
def test_completeness_error_falls_with_steps(model, rule):
    steps = [2, 8, 32, 128]
    runs = [assay.explain(model, TEXTS, f"integrated_gradients(steps={s}, rule={rule})") for s in steps]
    for i in range(len(TEXTS)):
        found = [run[i] for run in runs]
        errors = [a.extra["completeness_error"] for a in found]
        true = [abs(float(a.scores.sum()) - (a.value_full - a.value_empty)) for a in found]
        assert np.allclose(errors, true, atol=1e-5)  # what is reported is what is
        assert errors[2] < 0.2 * errors[0]
        assert errors[3] < 1e-3
        assert [a.extra["steps"] for a in found] == steps


def test_tolerance_adds_steps_where_they_are_needed(model):
    start = assay.explain(model, TEXTS, "integrated_gradients(steps=2, rule=gauss_legendre)")
    errors = sorted(a.extra["completeness_error"] for a in start)
    between = sum(errors) / 2  # one text is good enough already, the other is not
    assert errors[0] < between < errors[1]
    for tolerance in (between, 1e-2, 1e-3):
        found = assay.explain(
            model, TEXTS, f"integrated_gradients(steps=2, rule=gauss_legendre, tolerance={tolerance})"
        )
        for a, b in zip(found, start, strict=True):
            assert a.extra["completeness_error"] <= tolerance
            assert abs(float(a.scores.sum()) - (a.value_full - a.value_empty)) <= tolerance + 1e-5
            assert (a.extra["steps"] == 2) == (b.extra["completeness_error"] <= tolerance)
    needed = found[1].extra["steps"]
    alone = assay.explain(model, TEXTS[1], f"integrated_gradients(steps={needed}, rule=gauss_legendre)")
    assert np.allclose(found[1].scores, alone.scores, atol=1e-5)


def test_tolerance_that_cannot_be_met_ends(model):
    a = assay.explain(model, "a film", "integrated_gradients(steps=600, tolerance=1e-12)")
    assert a.extra["steps"] == 1200


def test_gradient_shap_approaches_integrated_gradients(model):
    """Each run is unbiased: the mean of 40 seeds is within 5 standard errors of IG, and far nearer than one run."""
    text = TEXTS[1]
    truth = assay.explain(model, text, "integrated_gradients(steps=256)").scores
    runs = np.array([assay.explain(model, text, f"gradient_shap(samples=4, seed={s})").scores for s in range(40)])
    spread = runs.std(0, ddof=1)
    assert (spread > 0).all()
    assert (np.abs(runs.mean(0) - truth) < 5 * spread / 40**0.5).all()
    many = assay.explain(model, text, "gradient_shap(samples=1024)").scores
    assert np.abs(many - truth).max() < 1e-3 * np.abs(truth).max()


def test_gradient_shap_draws_once_in_each_stratum():
    """On v = u^2 the score is d_t * 2 mean(u): with m strata the mean of the draws lies within 1/2m of 1/2."""
    model = toys.closed(power=2)
    ig = assay.explain(model, TEXTS[0], "integrated_gradients(steps=2, rule=gauss_legendre)", target=1).scores
    right = assay.explain(model, TEXTS[0], "integrated_gradients(steps=1, rule=right)", target=1).scores
    for seed in range(5):
        for samples in (1, 16):
            got = assay.explain(model, TEXTS[0], f"gradient_shap(samples={samples}, seed={seed})", target=1).scores
            off = (got - ig) / (right - ig)  # -1 where a = 0, 0 at the mean, 1 where a = 1
            assert np.allclose(off, off[0], atol=1e-3)
            assert 0 < abs(off[0]) <= 1 / samples + 1e-4


def test_smooth_grad_without_noise_is_the_gradient(model):
    for reduction in ("l2", "sum"):
        smooth = assay.explain(model, TEXTS, f"smooth_grad(samples=3, noise=0, reduction={reduction})")
        plain = assay.explain(model, TEXTS, f"gradient(reduction={reduction})")
        for a, b in zip(smooth, plain, strict=True):
            assert np.allclose(a.scores, b.scores, atol=1e-5 * max(1.0, np.abs(b.scores).max()))
    product = assay.explain(model, TEXTS, "smooth_grad(samples=2, noise=0, reduction=x_input)")
    for a, b in zip(product, assay.explain(model, TEXTS, "gradient_x_input"), strict=True):
        assert np.allclose(a.scores, b.scores, atol=1e-5 * np.abs(b.scores).max())


def test_smooth_grad_on_a_quadratic_has_the_gradient_as_its_mean():
    """v = u^2: the gradient at a noisy point is 2 w (u + noise), unbiased; its spread grows with the noise."""
    model = toys.closed(power=2)
    plain = assay.explain(model, TEXTS[0], "gradient(reduction=sum)", target=0).scores
    for noise in (0.02, 0.2):
        method = f"smooth_grad(samples=8, noise={noise}, reduction=sum"
        runs = [assay.explain(model, TEXTS[0], f"{method}, seed={s})", target=0).scores for s in range(60)]
        runs = np.array(runs)
        factor = runs[:, 0] / plain[0]  # all scores are scaled alike: (u + mean noise) / u
        assert np.allclose(runs, factor[:, None] * plain, rtol=1e-3, atol=1e-4)
        u, sigma = _noise_on_u(model, TEXTS[0], noise)
        expected = sigma / 8**0.5 / abs(u)
        assert abs(factor.mean() - 1) < 5 * expected / 60**0.5
        assert 0.75 < factor.std(ddof=1) / expected < 1.3  # 3 standard errors


def _noise_on_u(model, text, noise):
    """u at the text, and the deviation of u when every inner embedding entry gets noise * (max - min) of them."""
    ids = torch.tensor([model.tokenizer(text)["input_ids"]])
    with torch.no_grad():
        e = model.hf.words(ids)
        u = float(model.hf.linear(e, torch.ones_like(ids))[0, 0])
        inner = e[0, 1:-1]
        weight = model.hf.weight[1 : 1 + len(inner), 0].detach()
    return u, noise * float(inner.max() - inner.min()) * float(weight.norm())
