"""Models whose explanations are known on paper: linear, polynomial and perceptron classifiers, end to end."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.special import expit, softmax

import assay
import toys
from assay import Example, Target

TEXTS = ["a modest pleasure", "the plot is thin , the acting is good", "sad"]


def pieces(model, text):
    """Word embeddings x, baseline embeddings r (T,D) and weights (T,C,D), all of the inner positions, by hand."""
    ids = model.tokenizer(text)["input_ids"]
    inner = slice(1, len(ids) - 1)
    words, weight = model.hf.words.weight.detach().numpy(), model.hf.weight.detach().numpy()
    return words[ids][inner], words[[model.tokenizer.mask_token_id] * len(ids)][inner], weight[: len(ids)][inner]


def linear_truth(model, text, label, zero=False):
    x, r, w = pieces(model, text)
    return ((x - (0 if zero else r)) * w[:, label]).sum(-1)  # <w_t, x_t - r_t>


@pytest.fixture(scope="module")
def linear():
    return toys.closed(power=1)


EXACT = [
    "integrated_gradients",
    "integrated_gradients(steps=2, rule=adaptive)",
    "integrated_gradients(steps=1, rule=gauss_legendre)",
    "integrated_gradients(steps=7, rule=left)",
    "gradient_shap(samples=2)",
    "deep_lift",
    "occlusion",
    "kernel_shap",
    "kernel_shap(samples=64)",
    "lime(samples=400, ridge=0)",
]


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize("label", [0, 2])
def test_on_a_linear_model_all_attribution_is_one(linear, method, label):
    """IG = SHAP = occlusion = LIME = DeepLIFT = <w_t, x_t - r_t> on the logit."""
    found = assay.explain(linear, TEXTS, method, target=Target(label, scale="logit"))
    for a, text in zip(found, TEXTS, strict=True):
        assert np.allclose(a.scores, linear_truth(linear, text, label), atol=2e-5)


@pytest.mark.parametrize(
    "method", ["integrated_gradients(baseline=zero)", "gradient_x_input", "deep_lift(baseline=zero)"]
)
def test_against_zero_it_is_gradient_x_input(linear, method):
    for a, text in zip(assay.explain(linear, TEXTS, method, target=1), TEXTS, strict=True):
        assert np.allclose(a.scores, linear_truth(linear, text, 1, zero=True), atol=1e-5)


@pytest.mark.parametrize("method", ["gradient", "smooth_grad(samples=3, noise=2.0)"])
def test_gradient_of_a_linear_model_is_its_weight(linear, method):
    head = method.split("(")[0]
    inside = method[len(head) + 1 : -1]
    for a, text in zip(assay.explain(linear, TEXTS, method, target=1), TEXTS, strict=True):
        assert np.allclose(a.scores, np.linalg.norm(pieces(linear, text)[2][:, 1], axis=-1), atol=1e-5)
    signed = f"{head}({', '.join(filter(None, [inside, 'reduction=sum']))})"
    for a, text in zip(assay.explain(linear, TEXTS, signed, target=1), TEXTS, strict=True):
        assert np.allclose(a.scores, pieces(linear, text)[2][:, 1].sum(-1), atol=1e-5)


def test_a_difference_of_classes_and_its_scores(linear):
    """Target(against=) explains the difference of two logits; softmax's log p - log q is the same difference."""
    for scale in ("logit", "log_probability"):
        (a,) = assay.explain(linear, TEXTS[:1], "integrated_gradients", target=Target(0, against=2, scale=scale))
        truth = linear_truth(linear, TEXTS[0], 0) - linear_truth(linear, TEXTS[0], 2)
        assert np.allclose(a.scores, truth, atol=2e-5)
        assert a.target == Target(0, 2, scale)


def test_words_are_sums_of_their_tokens(linear):
    text = "accomplishes confidence"
    tokens, words = (assay.explain(linear, text, target=0, units=kind) for kind in ("token", "word"))
    assert len(words) == 2 < len(tokens)
    for word in words.units:
        inside = [s for u, s in zip(tokens.units, tokens.scores, strict=True) if word.start <= u.start < word.end]
        assert np.isclose(words.scores[words.units.index(word)], np.sum(inside), atol=1e-5)


def test_the_norm_of_a_word_is_that_of_its_summed_vector(linear):
    text = "accomplishes confidence"
    weight = pieces(linear, text)[2][:, 0]
    words = assay.explain(linear, text, "gradient", target=0, units="word")
    owner = [w for w in linear.tokenizer(text).word_ids() if w is not None]
    truth = [np.linalg.norm(sum(weight[t] for t in range(len(owner)) if owner[t] == w)) for w in (0, 1)]
    assert np.allclose(words.scores, truth, atol=1e-5)


def test_values(linear):
    """value_full and value_empty are the model's own numbers on the target's scale."""
    text = TEXTS[1]
    ids = torch.tensor([linear.tokenizer(text)["input_ids"]])
    empty = ids.clone()
    empty[0, 1:-1] = linear.tokenizer.mask_token_id
    with torch.no_grad():
        full, none = (linear.hf(i, torch.ones_like(i)).logits[0].double().numpy() for i in (ids, empty))
    a = assay.explain(linear, text, "kernel_shap", target=1)  # its own scale: probability
    assert np.isclose(a.value_full, softmax(full)[1])
    assert np.isclose(a.value_empty, softmax(none)[1])
    assert np.isclose(a.scores.sum(), softmax(full)[1] - softmax(none)[1], atol=1e-6)
    b = assay.explain(linear, text, "integrated_gradients", target=1)  # the logit
    assert np.isclose(b.value_full, full[1], rtol=1e-5)
    assert np.isclose(b.value_empty, none[1], rtol=1e-5)


# --- integrated gradients on polynomials --------------------------------------------------------------------------


def line(model, text, label):
    """u(a) = b + <w, r + a (x - r)> along the path, as (u(0), u(1)), specials included; and d_t = <w_t, x_t - r_t>."""
    d = linear_truth(model, text, label)
    ids = torch.tensor([model.tokenizer(text)["input_ids"]])
    with torch.no_grad():
        end = float(model.hf.linear(model.hf.words(ids), torch.ones_like(ids))[0, label])
    return end - d.sum(), end, d


@pytest.mark.parametrize("power", [2, 3, 5])
def test_gauss_legendre_is_exact_for_polynomials(power):
    """v = u^k: the integrand has degree k - 1, so ceil(k / 2) nodes do; IG_t = d_t (u1^k - u0^k) / (u1 - u0)."""
    model = toys.closed(power=power)
    for text in TEXTS:
        start, end, d = line(model, text, 1)
        a = assay.explain(model, text, f"integrated_gradients(steps={(power + 1) // 2}, rule=gauss_legendre)", target=1)
        truth = d * (end**power - start**power) / (end - start)
        assert np.allclose(a.scores, truth, rtol=1e-4, atol=1e-5 * np.abs(truth).max())
        assert a.extra["completeness_error"] < 1e-5 * max(abs(start), abs(end)) ** power


def test_too_few_nodes_are_not_exact_and_the_error_says_so():
    model = toys.closed(power=4)
    start, end, d = line(model, TEXTS[1], 1)
    a = assay.explain(model, TEXTS[1], "integrated_gradients(steps=1, rule=gauss_legendre)", target=1)
    missing = abs(float(a.scores.sum()) - (end**4 - start**4))
    assert missing > 0.01 * abs(end**4 - start**4)
    assert np.isclose(a.extra["completeness_error"], missing, rtol=1e-3)
    assert np.allclose(a.scores, d * 4 * ((start + end) / 2) ** 3, rtol=1e-4)  # one node: the midpoint


@pytest.mark.parametrize(("rule", "offset"), [("left", 0.0), ("right", 1.0), ("middle", 0.5)])
@pytest.mark.parametrize("steps", [1, 4, 9])
def test_riemann_sums_are_literal(rule, offset, steps):
    model = toys.closed(power=3)
    start, end, d = line(model, TEXTS[0], 2)
    integral = 0.0
    for k in range(steps):
        u = start + (k + offset) / steps * (end - start)
        integral += 3 * u**2 / steps
    a = assay.explain(model, TEXTS[0], f"integrated_gradients(steps={steps}, rule={rule})", target=2)
    assert np.allclose(a.scores, d * integral, rtol=1e-4)


def test_removal_names_the_baseline(linear):
    """A baseline left open follows the removal that the caller names, in an ensemble too."""
    zero = linear_truth(linear, TEXTS[1], 1, zero=True)
    a = assay.explain(linear, TEXTS[1], "integrated_gradients", target=1, removal="zero")
    assert np.allclose(a.scores, zero, atol=2e-5)
    ensemble = assay.explain(linear, TEXTS[1], "ensemble([integrated_gradients])", target=1, removal="zero")
    assert np.allclose(ensemble.scores, zero / np.abs(zero).sum(), atol=1e-5)


def test_ensemble_is_the_mean_of_normalised_scores(linear):
    names = ["occlusion", "gradient_x_input", "integrated_gradients"]
    parts = assay.explain(linear, TEXTS[1], names, target=1)
    together = assay.explain(linear, TEXTS[1], f"ensemble([{', '.join(names)}])", target=1)
    truth = np.mean([parts[n].scores / np.abs(parts[n].scores).sum() for n in names], axis=0)
    assert np.allclose(together.scores, truth, atol=1e-6)


# --- DeepLIFT -----------------------------------------------------------------------------------------------------


def test_deep_lift_is_complete_on_a_perceptron():
    """Elementwise activations between linear maps: the chords add up to v(x) - v(r) exactly; gradients do not."""
    model = toys.closed(perceptron=True, classes=5)
    for text in TEXTS:
        lift, plain = (assay.explain(model, text, m, target=3) for m in ("deep_lift", "integrated_gradients(steps=64)"))
        drop = plain.value_full - plain.value_empty
        assert np.isclose(lift.scores.sum(), drop, atol=1e-5)
        slope = assay.explain(model, text, "integrated_gradients(steps=1, rule=right)", target=3)  # tangent at x
        assert not np.isclose(slope.scores.sum(), drop, atol=1e-3)


def test_deep_lift_is_the_chord_by_hand():
    """Forward values of x and r through each layer, multipliers backwards, all in float64 numpy."""
    model = toys.closed(perceptron=True, classes=5)
    hf, text, label = model.hf.double(), TEXTS[1], 2
    ids = torch.tensor([model.tokenizer(text)["input_ids"]])
    r_ids = ids.clone()
    r_ids[0, 1:-1] = model.tokenizer.mask_token_id
    with torch.no_grad():
        u, u0 = (hf.linear(hf.words(i), torch.ones_like(i))[0] for i in (ids, r_ids))
        first = (hf.first(u) - hf.first(u0)) / (u - u0)
        s, s0 = hf.middle(hf.first(u)), hf.middle(hf.first(u0))
        second = (hf.second(s) - hf.second(s0)) / (s - s0)
        into = ((hf.last.weight[label] * second) @ hf.middle.weight) * first  # (C,)
        change = (hf.words(ids) - hf.words(r_ids))[0]  # (T,D)
        truth = torch.einsum("td,tcd,c->t", change, hf.weight[: len(change)], into)[1:-1]
    hf.float()
    assert np.allclose(assay.explain(model, text, "deep_lift", target=label).scores, truth.numpy(), atol=1e-5)


def test_probability_is_explained_on_request(linear):
    """Occlusion of the probability: the difference of two softmaxes, in float64 from the logits."""
    text, label = TEXTS[0], 1
    ids = torch.tensor([linear.tokenizer(text)["input_ids"]])
    gone = ids.repeat(ids.shape[1] - 2, 1)
    gone[torch.arange(len(gone)), torch.arange(len(gone)) + 1] = linear.tokenizer.mask_token_id
    with torch.no_grad():
        full, less = (linear.hf(i, torch.ones_like(i)).logits.double().numpy() for i in (ids, gone))
    a = assay.explain(linear, text, "occlusion", target=label)
    assert np.allclose(a.scores, softmax(full, -1)[:, label] - softmax(less, -1)[:, label], atol=1e-6)
    b = assay.explain(linear, text, "occlusion", target=Target(label, scale="log_odds"))
    odds = [np.log(p / (1 - p)) for p in (softmax(full, -1)[:, label], softmax(less, -1)[:, label])]
    assert np.allclose(b.scores, odds[0] - odds[1], atol=1e-5)


def test_multi_label_uses_a_sigmoid_per_class(linear):
    many = assay.load_model((linear.hf, linear.tokenizer), task="multi_label")
    text = TEXTS[2]
    a = assay.explain(many, Example(text), "occlusion", target=1)
    b = assay.explain(many, text, "occlusion", target=Target(1, scale="logit"))
    assert np.isclose(a.value_full, expit(b.value_full), atol=1e-6)
