"""Attention methods against transformers' own output_attentions, slow literal versions, and known orders."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.stats import rankdata, spearmanr

import assay
import toys
from assay.explainers.attention_matrices import rollout

TEXTS = ["a modest pleasure that accomplishes its goals", "the plot is thin", "sad poem , slow film"]


@pytest.fixture(scope="module")
def model():
    return toys.bert(seed=2, layers=3)


@pytest.fixture(scope="module")
def eager():
    """The same weights computed by transformers' own plain attention."""
    return toys.bert_hf(seed=2, layers=3, attn_implementation="eager")


def attentions(hf, tokenizer, text):
    """(L,H,T,T) of one text, alone and unpadded."""
    with torch.no_grad():
        out = hf(**tokenizer(text, return_tensors="pt"), output_attentions=True)
    return torch.stack(out.attentions)[:, 0].double().numpy()


# --- average attention and rollout --------------------------------------------------------------------------------


def test_average_attention(model, eager):
    for a, text in zip(assay.explain(model, TEXTS, "average_attention"), TEXTS, strict=True):
        truth = attentions(eager, model.tokenizer, text).mean((0, 1, 2))[1:-1]
        assert np.allclose(a.scores, truth, atol=1e-6)
        assert truth.std() > 0.01  # uneven, so the test could fail


@pytest.mark.parametrize("residual", [True, False])
@pytest.mark.parametrize("row", ["mean", "readout"])
def test_rollout(model, eager, residual, row):
    found = assay.explain(model, TEXTS, f"attention_rollout(residual={residual}, row={row})")
    for a, text in zip(found, TEXTS, strict=True):
        product = None
        for layer in attentions(eager, model.tokenizer, text).mean(1):
            layer = 0.5 * layer + 0.5 * np.eye(len(layer)) if residual else layer
            product = layer if product is None else layer @ product  # later layers on the left
        truth = product.mean(0) if row == "mean" else product[0]
        assert np.allclose(a.scores, truth[1:-1], atol=1e-6)


def stochastic(rng, n, causal=False):
    """A random row-stochastic matrix (1,n,n), lower triangular if causal."""
    raw = np.exp(rng.normal(size=(n, n)))
    raw = np.tril(raw) if causal else raw
    return torch.from_numpy(raw / raw.sum(1, keepdims=True))[None]


def scores(layers):
    return rollout(layers)[0].mean(0).numpy()


def test_rollout_forgets_all_but_the_first_layers():
    """12 random layers: randomising the last or a middle one changes no rank, the first one every rank (thesis 4.7)."""
    n, found = 20, {0: [], 6: [], 11: []}
    for seed in range(30):
        rng = np.random.default_rng(seed)
        layers = [stochastic(rng, n) for _ in range(12)]
        for which, values in found.items():
            changed = [*layers[:which], stochastic(rng, n), *layers[which + 1 :]]
            values.append(spearmanr(scores(layers), scores(changed)).statistic)
    assert np.allclose(found[11], 1)
    assert np.mean(found[6]) > 0.999
    assert abs(np.mean(found[0])) < 0.15  # 30 draws with deviation 1/sqrt(19): 0.15 is over 3 standard errors


def test_causal_attention_ranks_the_last_token_last():
    """Only the last token looks at the last token: Mean Rank % is exactly 1 for the average and for rollout."""
    n = 20
    for seed in range(20):
        rng = np.random.default_rng(seed)
        heads = [[stochastic(rng, n, causal=True) for _ in range(12)] for _ in range(12)]
        layers = [torch.stack(h).mean(0) for h in heads]
        average = torch.cat(layers).mean((0, 1)).numpy()
        for found in (average, scores(layers)):
            assert rankdata(-found)[-1] == n


@pytest.mark.parametrize("method", ["average_attention", "attention_rollout(residual=False)", "attention_rollout"])
@pytest.mark.filterwarnings("ignore:GPT2ForSequenceClassification has no mask token")
def test_random_gpt2_ranks_the_last_token_last(method):
    text = "a modest pleasure that accomplishes its goals with ease and"
    for seed in range(3):
        a = assay.explain(toys.gpt2(seed, layers=12, heads=12), text, method)
        assert len(a) >= 10
        assert np.argmin(a.scores) == len(a) - 1


# --- attention x gradient -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", [0, 1])
def test_attention_x_gradient(model, eager, target):
    """Chefer et al. literally: retain_grad on each layer's probabilities, relu of the product, mean over heads."""
    for a, text in zip(assay.explain(model, TEXTS, "attention_x_gradient", target=target), TEXTS, strict=True):
        out = eager(**model.tokenizer(text, return_tensors="pt"), output_attentions=True)
        for layer in out.attentions:
            layer.retain_grad()
        eager.zero_grad()
        out.logits[0, target].backward()
        relevance = torch.eye(out.attentions[0].shape[-1])
        for layer in out.attentions:
            heads = [torch.relu(layer.grad[0, h] * layer[0, h]) for h in range(layer.shape[1])]
            relevance = relevance + torch.stack(heads).mean(0) @ relevance
        truth = relevance[0, 1:-1].detach().numpy()
        assert np.allclose(a.scores, truth, atol=1e-5 * truth.max())


# --- value zeroing ------------------------------------------------------------------------------------------------


def literal_value_zeroing(hf, inputs):
    """One block and one position at a time: zero the value vector by a hook, run the block on its own input again."""
    blocks = hf.bert.encoder.layer
    seen = []
    handles = [
        block.register_forward_pre_hook(lambda m, args, kwargs: seen.append((args, kwargs)), with_kwargs=True)
        for block in blocks
    ]
    with torch.no_grad():
        hf(**inputs)
    for handle in handles:
        handle.remove()
    matrices = []
    for block, (args, kwargs) in zip(blocks, seen, strict=True):
        with torch.no_grad():
            before = _hidden(block(*args, **kwargs))
        n = before.shape[0]
        moved = np.zeros((n, n))
        for j in range(n):

            def zero(module, given, output, j=j):
                output = output.clone()
                output[:, j] = 0
                return output

            handle = block.attention.self.value.register_forward_hook(zero)
            with torch.no_grad():
                after = _hidden(block(*args, **kwargs))
            handle.remove()
            moved[:, j] = 1 - torch.cosine_similarity(after, before, dim=-1).numpy()
        matrices.append(moved / moved.sum(1, keepdims=True))
    product = matrices[0]
    for matrix in matrices[1:]:
        product = matrix @ product
    return product


def _hidden(output):
    return (output[0] if isinstance(output, tuple) else output)[0].double()


def test_value_zeroing(model, eager):
    for a, text in zip(assay.explain(model, TEXTS, "value_zeroing"), TEXTS, strict=True):
        truth = literal_value_zeroing(eager, model.tokenizer(text, return_tensors="pt"))[0, 1:-1]
        assert np.allclose(a.scores, truth, atol=1e-5)
        assert np.ptp(truth) > 0.01


def test_value_zeroing_in_parts_is_the_same(model):
    whole, parts = (assay.explain(model, TEXTS, "value_zeroing", batch_tokens=b) for b in (None, 40))
    for a, b in zip(whole, parts, strict=True):
        assert np.allclose(a.scores, b.scores, atol=1e-5)
