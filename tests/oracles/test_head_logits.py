"""Attention logits of heads against full matrices, and head weights against the package entmax and hand values."""

from __future__ import annotations

import entmax
import numpy as np
import pytest
import torch
from torch import nn
from transformers import AttentionInterface
from transformers.masking_utils import AttentionMaskInterface, eager_mask

import assay
from assay.core.errors import SpecError
from assay.models import attention_hooks
from assay.models.head_logits import HeadLogits
from assay.models.head_weights import NORMALISERS, explanation, initial, normalise
from families import CASES, TRANSFORMERS, precise
from stock import example

LITERAL = "literal_scores"
_seen: list[tuple[torch.Tensor, torch.Tensor | None]] = []


def _literal_attention(module, query, key, value, attention_mask, scaling=None, position_bias=None, **kwargs):
    """All T x T logits and the additive mask, in transformers' own plain formula."""
    groups = query.shape[1] // key.shape[1]
    key, value = (x.repeat_interleave(groups, 1) for x in (key, value))
    scaling = query.shape[-1] ** -0.5 if scaling is None else scaling
    scores = query @ key.transpose(-1, -2) * scaling
    scores = scores if position_bias is None else scores + position_bias
    _seen.append((scores.detach(), attention_mask))
    masked = scores if attention_mask is None else scores + attention_mask
    return (masked.softmax(-1) @ value).transpose(1, 2).contiguous(), None


AttentionInterface.register(LITERAL, _literal_attention)
AttentionMaskInterface.register(LITERAL, eager_mask)


@pytest.fixture
def full_scores(monkeypatch):
    """Run a model and return its T x T logits per layer with the mask; models that softmax themselves are overheard."""

    def run(model, batch):
        _seen.clear()
        if model.family.probabilities:
            softmax = nn.functional.softmax

            def overheard(scores, *args, **kwargs):
                _seen.append((scores.detach(), None))
                return softmax(scores, *args, **kwargs)

            monkeypatch.setattr(nn.functional, "softmax", overheard)
            model.logits(batch)
            monkeypatch.undo()
        else:
            before = model.hf.config._attn_implementation
            model.hf.set_attn_implementation(LITERAL)
            model.logits(batch)
            model.hf.set_attn_implementation(before)
        return list(_seen)

    return run


def literal_mean(scores, mask, real):
    """(B,H,T) with loops: the mean over real queries j that may attend to t; NaN for padding."""
    out = np.full(scores.shape[:2] + scores.shape[-1:], np.nan)
    for b in range(len(out)):
        for t in np.flatnonzero(real[b]):
            rows = [j for j in np.flatnonzero(real[b]) if mask is None or float(mask[b, 0, j, t]) == 0]
            out[b, :, t] = scores[b, :, rows, t].mean(1)
    return out


@pytest.mark.parametrize("case", [*TRANSFORMERS, "llama-prompted"])
def test_means_are_those_of_the_full_matrix(case, full_scores):
    """mean(q) · k is the mean of the whole matrix, causal, windowed, biased and grouped, in a padded batch."""
    model = precise(case)
    batch = model.batch([model.encode(example(given)) for given in CASES[case].inputs])
    with torch.no_grad():
        logits, heads = model.head_logits(batch)
        full = full_scores(model, batch)
        real = batch.mask.numpy()
        truth = np.concatenate([literal_mean(s, m, real) for s, m in full], 1)
        assert torch.allclose(logits, model.logits(batch), atol=1e-8)
    found, keep = heads.numpy(), (real > 0)[:, None] & np.ones((1, heads.shape[1], 1), bool)
    difference = np.where(keep, found - truth, np.nan)
    if model.family.probabilities:  # known up to a constant per text and head
        difference = difference - np.nanmean(difference, -1, keepdims=True)
    assert np.nanmax(np.abs(difference)) < 1e-8
    assert np.nanstd(truth, -1).min() > 0.01  # uneven, so the test could fail


@pytest.mark.parametrize("case", ["bert", "mpnet", "mistral", "t5", "dinov2"])
def test_explanations_are_distributions_without_padding(case):
    model = precise(case)
    batch = model.batch([model.encode(example(given)) for given in CASES[case].inputs])
    with torch.no_grad():
        _, heads = model.head_logits(batch)
        shares = explanation(heads, torch.rand(heads.shape[1], dtype=heads.dtype), batch.mask)
    assert torch.allclose(shares.sum(1), torch.ones(len(batch), dtype=shares.dtype))
    assert (shares[batch.mask == 0] == 0).all()
    assert (shares[batch.mask > 0] > 0).all()


def test_the_models_graph_reaches_the_heads():
    """Gradients flow through the recorded logits, also in training mode with the fast kernels."""
    model = precise("bert")
    batch = model.batch([model.encode(example("the soup was good"))])
    _, heads = model.head_logits(batch)
    assert not heads.requires_grad  # frozen
    reader = HeadLogits(batch.mask)
    with attention_hooks.reading(model.hf, model.family, reader):
        model.outputs(batch)
    (gradient,) = torch.autograd.grad(reader.heads.sum(), model.hf.bert.embeddings.word_embeddings.weight)
    assert gradient.abs().sum() > 0


# --- the method ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "rows"), [("attention_logits", slice(None)), ("attention_logits(layer=-1)", 1)])
def test_static_explanations(text, rows, full_scores):
    model, given = precise("bert"), CASES["bert"].inputs[1]
    with torch.no_grad():
        full = full_scores(model, model.batch([model.encode(example(given))]))
    layers = np.stack([s[0].mean(1).numpy() for s, _ in full])  # (L,H,T)
    logits = layers[rows].mean(0) if rows == 1 else layers.mean((0, 1))
    logits = logits.mean(0) if logits.ndim > 1 else logits
    truth = np.exp(logits) / np.exp(logits).sum()
    found = assay.explain(model, given, text)
    assert np.allclose(found.scores, truth[1:-1], atol=1e-6)  # single-piece words without [CLS] and [SEP]


def test_a_head_that_is_not_there_is_refused():
    model = precise("bert")
    with pytest.raises(SpecError, match="layer=2, but the model has 2"):
        assay.explain(model, "the soup", "attention_logits(layer=2)")
    with pytest.raises(SpecError, match="of which layer"):
        assay.explain(model, "the soup", "attention_logits(head=0)")


def test_uniform_parameters_give_the_static_explanation():
    model = precise("bert")
    batch = model.batch([model.encode(example(given)) for given in CASES["bert"].inputs])
    _, heads = model.head_logits(batch)
    static = explanation(heads, torch.full((heads.shape[1],), 1 / heads.shape[1], dtype=heads.dtype), batch.mask)
    for how in NORMALISERS:
        weights = normalise(initial(heads.shape[1]).to(heads.dtype), how)
        assert torch.allclose(explanation(heads, weights, batch.mask), static, atol=1e-7), how


# --- head weights --------------------------------------------------------------------------------------------------

HAND = {
    "sparsemax": [0.25, 0, 0, 0.75],
    "entmax15": [0.256939, 0.127372, 0.042804, 0.572885],
    "softmax": [0.253913, 0.188104, 0.139351, 0.418632],
    "none": [0.5, 0.2, -0.1, 1.0],
}


@pytest.mark.parametrize("how", NORMALISERS)
def test_hand_values(how):
    weights = normalise(torch.tensor([0.5, 0.2, -0.1, 1.0], dtype=torch.float64), how)
    assert np.allclose(weights, HAND[how], atol=1e-6)


@pytest.mark.parametrize("how", ["sparsemax", "entmax15"])
def test_weights_and_gradients_are_the_package_s(how):
    rng = torch.Generator().manual_seed(0)
    for heads, spread in [(1, 1.0), (5, 0.1), (48, 1.0), (48, 30.0), (144, 0.02)]:
        phi = (spread * torch.randn(20, heads, generator=rng, dtype=torch.float64)).requires_grad_()
        direction = torch.randn(20, heads, generator=rng, dtype=torch.float64)
        ours, theirs = normalise(phi, how), getattr(entmax, how)(phi, dim=-1)
        assert torch.allclose(ours, theirs, atol=1e-9)
        gradients = [torch.autograd.grad((p * direction).sum(), phi)[0] for p in (ours, theirs)]
        assert torch.allclose(*gradients, atol=1e-8)


@pytest.mark.parametrize("how", NORMALISERS)
def test_second_derivatives(how):
    """Finite outside the support, too, where the package's entmax15 gives NaN."""
    phi = torch.tensor([0.5, 0.2, -0.1, 1.0, -3.0], dtype=torch.float64, requires_grad=True)
    direction = torch.tensor([1.0, 2.0, 0.3, -1.0, 0.7], dtype=torch.float64)
    assert torch.autograd.gradgradcheck(lambda p: (normalise(p, how).square() * direction).sum(), (phi,))


def test_equal_parameters_are_differentiable():
    """The start of every fit: all heads tie."""
    for how in NORMALISERS:
        phi = initial(12).double().requires_grad_()
        (gradient,) = torch.autograd.grad((normalise(phi, how) * torch.arange(12)).sum(), phi)
        assert torch.isfinite(gradient).all()
        assert gradient.abs().sum() > 0


def test_an_unknown_normaliser_is_refused():
    with pytest.raises(SpecError, match="sparsemax"):
        normalise(torch.zeros(2), "sparsmax")
