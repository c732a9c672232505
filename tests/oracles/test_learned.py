"""Learned explainers: losses, soft masks and Shapley's objective against closed forms, brute force and mpmath."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import permutations, product
from math import comb

import mpmath
import numpy as np
import pytest
import torch

import assay
from assay.core.types import Span, Target
from assay.explainers.learned.parts.alignment import alignment, carried_over
from assay.explainers.learned.parts.attribution_model import Attributor, LabelledEncoder, Trunk
from assay.explainers.learned.parts.losses import (
    LossWeights,
    OutputKind,
    inverse_loss,
    preservation_loss,
    sparsity_loss,
)
from assay.explainers.learned.parts.soft_mask import MaskingLoss, class_mixture, masked_batch
from assay.explainers.white_box import batch_with_units
from assay.fitting.logistic import GAP, bernoulli_divergence, cross_entropy, uniform_sizes
from assay.fitting.masks import Play, drawn_masks
from assay.fitting.shapley import kernel_sizes, least_squares
from assay.masking.units import divide
from assay.models.load import load_model
from assay.models.target import Targets
from toys import bert, bert_hf, byte_bpe, metaspace, wordpiece

TEXTS = ["the film is good and the plot is bad", "a modest pleasure", "not sad"]
CLASSES = OutputKind()


def double(model):
    model.hf.double()
    return model


def batch_of(model, texts=TEXTS):
    return batch_with_units(model, [divide(model.encode(assay.Example(text))) for text in texts])


def inputs_of(model, texts=TEXTS, *, label=None, soft=True):
    batch = batch_of(model, texts)
    targets = Targets((Target(label),) * len(texts), "logit", model.task == "multi_label")
    with torch.no_grad():
        targets = targets.resolve(model.logits(batch))
    return masked_batch(model, batch, targets, "mask_token", soft=soft)


# --- soft masks --------------------------------------------------------------------------------------------------


def test_a_mask_of_ones_gives_the_input_and_of_zeros_the_reference_exactly():
    inputs = inputs_of(bert())
    batch, model = inputs.batch, inputs.model
    ones = torch.ones_like(inputs.reference[..., 0])
    with torch.no_grad():
        assert torch.equal(inputs.logits(ones), model.logits(batch))
        masked = replace(batch, ids=torch.where(batch.playing, model.tokenizer.mask_token_id, batch.ids))
        assert torch.equal(inputs.logits(0 * ones), model.logits(masked))
    special = ~batch.playing & (batch.mask == 1)
    assert special.any(1).all(), "special tokens stay whole in both"


def test_preservation_is_at_least_the_entropy_and_equal_to_it_for_a_mask_of_ones():
    inputs = inputs_of(double(bert()))
    p = inputs.full.softmax(-1)
    entropy = -(p * p.log()).sum(-1)
    ones = torch.ones_like(inputs.reference[..., 0])
    with torch.no_grad():
        assert torch.allclose(preservation_loss(inputs.logits(ones), inputs.target, CLASSES), entropy, atol=1e-12)
        for seed in range(5):
            mask = torch.rand(ones.shape, generator=torch.Generator().manual_seed(seed), dtype=ones.dtype)
            assert (preservation_loss(inputs.logits(mask), inputs.target, CLASSES) >= entropy - 1e-12).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("gap", [-80.0, -3.0, 0.0, 2.0, 20.0, 88.0, 300.0])
def test_inverse_loss_against_mpmath(gap, dtype):
    """-log(1 - p): the naive form is infinite, or 69 with an epsilon, where p rounds to 1."""
    logits = torch.tensor([[gap, 0.0, -1.0]], dtype=dtype, requires_grad=True)
    loss = inverse_loss(logits, logits, torch.tensor([0]), CLASSES)
    with mpmath.workdps(300):
        z = [mpmath.mpf(v) for v in (gap, 0.0, -1.0)]
        p = [mpmath.e**v / sum(mpmath.e**w for w in z) for v in z]
        expected = -mpmath.log(p[1] + p[2])
        slope = [p[0], p[1] - p[1] / (p[1] + p[2]), p[2] - p[2] / (p[1] + p[2])]
    tolerance = 1e-5 if dtype == torch.float32 else 1e-12
    assert float(loss.detach()) == pytest.approx(float(expected), rel=tolerance, abs=1e-30)
    (gradient,) = torch.autograd.grad(loss.sum(), logits)
    assert gradient[0].tolist() == pytest.approx([float(s) for s in slope], rel=tolerance, abs=1e-7)


def test_the_other_forms_of_the_inverse_loss():
    logits = torch.tensor([[1.0, 0.5, -2.0]], dtype=torch.float64)
    p = logits.softmax(-1)[0]
    labels = torch.tensor([1])
    assert float(inverse_loss(logits, logits, labels, CLASSES, "probability")) == pytest.approx(float(p[1]))
    entropy = -float((p * p.log()).sum())
    assert float(inverse_loss(logits, logits, labels, CLASSES, "negative_entropy")) == pytest.approx(-entropy)
    several = OutputKind(independent=True)
    assert float(inverse_loss(logits, logits, labels, several)) == pytest.approx(
        float(-(1 - logits[0, 1].sigmoid()).log())
    )
    number = OutputKind(spread=2.0)
    moved = inverse_loss(torch.tensor([[3.0]]), torch.tensor([[1.0]]), torch.tensor([0]), number)
    assert float(moved) == pytest.approx(float(np.exp(-0.5)))


def test_sparsity_counts_real_tokens_only():
    logits = torch.tensor([[0.3, -1.0, 9.0, 9.0], [2.0, 9.0, 9.0, 9.0]], dtype=torch.float64)
    playing = torch.tensor([[True, True, False, False], [True, False, False, False]])
    a = logits.sigmoid()
    bce = [-(1 - a[0, :2]).log().mean(), -(1 - a[1, 0]).log()]
    assert sparsity_loss(logits, playing).tolist() == pytest.approx([float(v) for v in bce])
    assert sparsity_loss(logits, playing, "l1").tolist() == pytest.approx([float(a[0, :2].mean()), float(a[1, 0])])


@pytest.mark.parametrize("weights", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0.7, 0.2, 0.5)])
def test_gradients_of_the_losses_through_the_model_are_finite_differences(weights):
    inputs = inputs_of(double(bert()), TEXTS[:2])
    loss = MaskingLoss(LossWeights(*map(float, weights)))
    shape = inputs.reference.shape[:2]
    logits = torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1)).requires_grad_()
    (gradient,) = torch.autograd.grad(loss(inputs, logits).sum(), logits)
    h, numbers = 1e-5, torch.zeros(shape, dtype=torch.float64)
    with torch.no_grad():
        for b, t in product(*map(range, shape)):
            step = torch.zeros(shape, dtype=torch.float64)
            step[b, t] = h
            numbers[b, t] = (loss(inputs, logits + step).sum() - loss(inputs, logits - step).sum()) / (2 * h)
    assert torch.allclose(gradient, numbers, atol=1e-7)
    assert not gradient[~inputs.batch.playing].any()
    assert gradient.abs().max() > 1e-4


def test_a_class_that_was_not_predicted_is_the_target_alone():
    full = torch.tensor([[2.0, 1.0, 0.0], [0.0, 1.0, 3.0]])
    mixture = class_mixture(full, torch.tensor([0, 0]), soft=True)
    assert torch.allclose(mixture[0], full[0].softmax(-1))
    assert mixture[1].tolist() == [1, 0, 0]
    assert class_mixture(full, torch.tensor([0, 0]), soft=False)[0].tolist() == [1, 0, 0]


# --- attribution models ------------------------------------------------------------------------------------------


def attributors(model):
    torch.manual_seed(0)
    trunk = Trunk(model.n_blocks + 1, 32, len(model.labels))
    encoder = LabelledEncoder(model, len(model.labels))
    for parameter in (*trunk.parameters(), encoder.inner.weight, encoder.outer.weight):
        torch.nn.init.normal_(parameter, std=0.3)
    return {"trunk": Attributor(trunk), "encoder": Attributor(encoder)}


def outputs(attributor, model, texts):
    batch = batch_of(model, texts)
    with torch.no_grad():
        reading = attributor.read(model, batch)
        return batch, attributor(model, batch, reading, reading.logits.softmax(-1))


@pytest.mark.parametrize("architecture", ["trunk", "encoder"])
def test_a_batch_equals_one_by_one(architecture):
    """The published code fails this: it writes each label vector into every row of the batch."""
    model = bert()
    attributor = attributors(model)[architecture].eval()
    batch, together = outputs(attributor, model, TEXTS)
    for i, text in enumerate(TEXTS):
        _, alone = outputs(attributor, model, [text])
        used = int(batch.mask[i].sum())
        assert torch.allclose(together[i, :used], alone[0, :used], atol=1e-5)
        assert alone.std() > 1e-3


@pytest.mark.parametrize("use", ["all", "last"])
def test_the_trunk_follows_its_formula_token_by_token(use):
    """x = (1 + A q) * W sum_l m_l * norm(h_l) + B q, with loops in float64."""
    model = bert()
    torch.manual_seed(0)
    trunk = Trunk(model.n_blocks + 1, 32, len(model.labels), use).double().eval()
    for parameter in trunk.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    batch, found = outputs(Attributor(trunk), model, TEXTS)
    with torch.no_grad():
        logits, states = model.states(batch)
        q = 2 * logits.softmax(-1).double() - 1
        used = (states if use == "all" else states[:, -1:]).double()
        x = torch.zeros(*batch.ids.shape, trunk.inner.out_features, dtype=torch.float64)
        for b in range(len(batch)):
            for t in range(batch.ids.shape[1]):
                mixed = torch.zeros(32, dtype=torch.float64)
                for layer in range(used.shape[1]):
                    h = used[b, layer, t]
                    mixed += trunk.mix[layer] * (h - h.mean()) / (h.var(unbiased=False) + 1e-5).sqrt()
                a, shift = trunk.scale.weight @ q[b], trunk.shift.weight @ q[b] + trunk.shift.bias
                x[b, t] = (1 + a) * (trunk.inner.weight @ mixed + trunk.inner.bias) + shift
        expected = trunk.outer(trunk.norm(trunk.block(x, batch.mask > 0))).squeeze(-1)
    assert torch.allclose(found, expected, atol=1e-10)


def test_the_label_is_one_more_token_that_is_not_scored():
    """Against the encoder run by hand with the label's vector after the last token."""
    model = bert()
    attributor = attributors(model)["encoder"].eval()
    inner = attributor.model
    (text,) = TEXTS[1:2]
    batch, found = outputs(attributor, model, [text])
    with torch.no_grad():
        p = model.logits(batch).softmax(-1)
        z = inner.labels.bias + p @ inner.labels.weight.T  # z_0 + sum_j p_j z_j
        words = torch.cat([inner.encoder.embeddings.word_embeddings(batch.ids), z[:, None]], 1)
        states = inner.encoder(inputs_embeds=words, attention_mask=torch.ones(words.shape[:2])).last_hidden_state
        expected = inner.outer(inner.inner(states).tanh())[:, :-1, 0]
    assert torch.allclose(found, expected, atol=1e-5)


@pytest.mark.filterwarnings("ignore:.*longer")
@pytest.mark.parametrize("architecture", ["trunk", "encoder"])
def test_an_input_that_fills_the_model(architecture):
    model = bert(positions=16)
    text = " ".join(["good"] * 40)
    attributor = attributors(model)[architecture].eval()
    batch, found = outputs(attributor, model, [text])
    assert found.shape == batch.ids.shape == (1, 16)
    assert torch.isfinite(found).all()


# --- alignment ---------------------------------------------------------------------------------------------------


def spans(*pairs):
    return [Span(-1, 0, 0) if pair is None else Span(0, *pair) for pair in pairs]


def test_alignment_by_hand():
    ours = spans(None, (0, 4), (4, 9), (9, 10), None)
    theirs = spans(None, (0, 2), (2, 6), (6, 9), (9, 10), None)
    assert alignment(ours, theirs) == [[], [1, 2], [2, 3], [4], []]


def test_tokens_that_nothing_covers_take_their_neighbours():
    theirs = spans((0, 1), (4, 5), (6, 7), (8, 9))
    assert alignment(spans((0, 1), (2, 3), (4, 5)), theirs) == [[0], [1], [1]], "the next one, if they are neighbours"
    assert alignment(spans((0, 1), (2, 3), (8, 9)), theirs) == [[0], [1, 2], [3]], "all in between"
    assert alignment(spans((0, 1), (2, 3), (3, 4), (8, 9)), theirs) == [[0], [1], [2], [3]], "evenly spaced"
    assert alignment(spans((2, 3), (4, 5)), theirs) == [[1], [1]]
    assert alignment(spans((8, 9), (20, 21)), theirs) == [[3], [3]]
    assert alignment(spans((8, 9), (20, 21)), theirs, whole=False) == [[3], []], "a text of which they read the start"
    assert alignment(spans(None, (20, 21)), theirs) == [[], []]


@pytest.mark.parametrize("text", ["good 👨‍👩‍👧 film", "这部电影很好看。", "un café très naïve 👍🏽!"])
@pytest.mark.parametrize("other", [byte_bpe, metaspace])
def test_alignment_of_real_tokenizers_covers_every_token(text, other):
    read = [tokenizer(text, return_offsets_mapping=True)["offset_mapping"] for tokenizer in (wordpiece(), other())]
    ours, theirs = ([Span(0, *offsets) for offsets in found] for found in read)
    for span, found in zip(ours, alignment(ours, theirs), strict=True):
        if span.start < span.end:
            assert found
            touching = [i for i, s in enumerate(theirs) if s.start < span.end and span.start < s.end]
            assert not touching or found == touching


@pytest.mark.parametrize(
    ("join", "expected"), [("max", [2.0, 3.0, 0.0]), ("mean", [1.0, 3.0, 0.0]), ("min", [0.0, 3.0, 0.0])]
)
def test_scores_are_carried_over(join, expected):
    scores = torch.tensor([[0.0, 1.0, 2.0, 3.0]])
    assert carried_over(scores, [[[0, 1, 2], [3], []]], 3, join)[0].tolist() == expected


# --- Shapley -----------------------------------------------------------------------------------------------------


def game(n, seed=0):
    """A random game with interactions: (M,n) masks -> (M,) values."""
    table = np.random.default_rng(seed).normal(size=2**n)
    return lambda keep: table[np.asarray(keep, int) @ (1 << np.arange(n))]


def shapley_values(n, value):
    phi = np.zeros(n)
    orders = list(permutations(range(n)))
    for order in orders:
        keep = np.zeros(n, bool)
        for unit in order:
            before = value(keep[None])[0]
            keep[unit] = True
            phi[unit] += value(keep[None])[0] - before
    return phi / len(orders)


@pytest.mark.parametrize("n", [2, 5])
def test_the_minimiser_of_the_objective_is_the_shapley_value(n):
    """With every mask in proportion to the kernel, the loss has its minimum, with no gap, at the exact values."""
    value = game(n)
    every = np.array([keep for keep in product([False, True], repeat=n) if 0 < sum(keep) < n])
    weight = np.array([kernel_sizes(n)[keep.sum() - 1] / comb(n, int(keep.sum())) for keep in every])
    values = torch.tensor(np.concatenate([value(np.zeros((1, n))), value(every)]))[None]
    full = torch.tensor(value(np.ones((1, n))))
    sizes = torch.tensor([n])

    def loss(phi):  # the mean over masks, with masks weighted as they are drawn
        each = [
            least_squares(Play(phi[None], sizes, torch.tensor(k)[None, None].double(), values[:, [0, i + 1]], full))
            for i, k in enumerate(every)
        ]
        return (torch.cat(each) * torch.tensor(weight)).sum()

    phi = torch.zeros(n, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([phi], max_iter=200, tolerance_grad=1e-12, tolerance_change=1e-14)

    def closure():
        optimiser.zero_grad()
        value_of = loss(phi)
        value_of.backward()
        return value_of

    optimiser.step(closure)
    assert phi.detach().numpy() == pytest.approx(shapley_values(n, value), abs=1e-6)


def test_masks_follow_the_kernel():
    n, count = 6, 200_000
    masks = drawn_masks(n, count, np.random.default_rng(0), kernel_sizes)
    assert masks.shape == (count, n)
    assert (masks[0::2] != masks[1::2]).all(), "each is followed by its complement"
    sizes = np.bincount(masks.sum(1), minlength=n + 1) / count
    kernel = [comb(n, s) * (n - 1) / (comb(n, s) * s * (n - s)) for s in range(1, n)]
    assert sizes[[0, n]].tolist() == [0, 0]
    assert sizes[1:n] == pytest.approx(np.array(kernel) / sum(kernel), abs=0.005)
    assert masks.mean(0) == pytest.approx([0.5] * n, abs=0.01)
    assert drawn_masks(1, 8, np.random.default_rng(0), kernel_sizes).shape == (0, 1)


def test_masks_of_the_logistic_objective_have_every_size_alike():
    n, count = 6, 100_000
    masks = drawn_masks(n, count, np.random.default_rng(0), uniform_sizes)
    assert np.bincount(masks.sum(1), minlength=n + 1) / count == pytest.approx(
        [0, *[1 / (n - 1)] * (n - 1), 0], abs=5e-3
    )


def test_the_divergence_is_that_of_two_coins():
    """Against torch.distributions where that is accurate, and mpmath where probabilities round to 0 or 1."""
    truth, guess = torch.meshgrid(*[torch.linspace(-9, 9, 19, dtype=torch.float64)] * 2, indexing="ij")
    coins = [torch.distributions.Bernoulli(logits=x) for x in (truth, guess)]
    expected = torch.distributions.kl_divergence(*coins)
    assert bernoulli_divergence(truth, guess).numpy() == pytest.approx(expected.numpy(), abs=1e-12)
    mpmath.mp.dps = 60
    for t, g in [(40.0, 38.0), (-50.0, 3.0), (60.0, -60.0)]:
        p, q = (1 / (1 + mpmath.exp(-mpmath.mpf(x))) for x in (t, g))
        exact = p * mpmath.log(p / q) + (1 - p) * mpmath.log((1 - p) / (1 - q))
        found = bernoulli_divergence(torch.tensor(t, dtype=torch.float64), torch.tensor(g, dtype=torch.float64))
        assert float(found) == pytest.approx(float(exact), rel=1e-9, abs=1e-13)


def test_additive_log_odds_are_the_minimum_of_the_logistic_objective():
    """Where the log-odds are a sum of parts, exactly these parts have no loss; elsewhere it is the mean over masks."""
    rng = np.random.default_rng(0)
    parts, base = torch.tensor(rng.normal(size=4)), 0.3
    keep = torch.tensor([k for k in product([0.0, 1.0], repeat=4) if 0 < sum(k) < 4], dtype=torch.float64)
    values = base + torch.cat([torch.zeros(1, dtype=torch.float64), keep @ parts])
    full = base + parts.sum()

    def loss(phi):
        return cross_entropy(Play(phi[None], torch.tensor([4]), keep[None], values[None], full[None]))[0]

    assert float(loss(parts)) == pytest.approx(0, abs=1e-14)
    other = torch.tensor(rng.normal(size=4))
    lack = float(full - base - other.sum())
    each = []
    for mask, truth in zip(keep, values[1:], strict=True):
        guess = base + sum(float(other[i]) + lack / 4 for i in range(4) if mask[i])
        p, q = 1 / (1 + math.exp(-float(truth))), 1 / (1 + math.exp(-guess))
        each.append(p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q)))
    assert float(loss(other)) == pytest.approx(np.mean(each) + GAP * lack**2, rel=1e-9)


def test_texts_of_different_lengths_share_a_batch():
    """Padding of units and missing masks add nothing."""
    generator = torch.Generator().manual_seed(0)
    phi = torch.randn(1, 3, generator=generator)
    keep = torch.tensor([[[1.0, 0, 1], [0, 1, 0]]])
    values, full = torch.randn(1, 3, generator=generator), torch.randn(1, generator=generator)
    alone = least_squares(Play(phi, torch.tensor([3]), keep, values, full))
    pad = torch.nn.functional.pad
    longer = torch.cat([pad(phi, (0, 2)), torch.tensor([[0.4, 0, 0, 0, 0]])])
    together = Play(
        longer,
        torch.tensor([3, 1]),
        torch.cat([pad(keep, (0, 2)), torch.zeros(1, 2, 5)]),
        torch.cat([values, torch.tensor([[0.1, 9.0, 9.0]])]),
        torch.cat([full, torch.tensor([1.0])]),
    )
    both = least_squares(together)
    assert cross_entropy(together)[1] == pytest.approx(GAP * 0.5**2), "so it is for the other objective"
    assert both[0] == pytest.approx(float(alone), abs=1e-6)
    assert both[1] == pytest.approx(0.1 * 0.5**2), "only the sum counts"


@pytest.mark.filterwarnings("ignore:.*no validation split")
def test_the_explained_model_is_unchanged_and_the_attribution_model_learns():
    model = load_model((bert_hf(), wordpiece()))
    before = {name: tensor.clone() for name, tensor in model.hf.state_dict().items()}
    texts = [*TEXTS, *(f"{a} {b}" for a in TEXTS for b in TEXTS)] * 2
    for objective in ("logistic", "shapley", "masking"):
        settings = {"objective": objective, "epochs": 1, "masks": 2, "progress": False}
        explainers = [assay.fit(model, texts, learning_rate=rate, **settings) for rate in (1e-3, 1e-30)]
        learnt, initial = (e.loaded.attributor.model.inner.weight for e in explainers)
        assert (learnt - initial).abs().max() > 1e-4
    assert all(torch.equal(before[name], tensor) for name, tensor in model.hf.state_dict().items())
    assert not any(p.grad is not None for p in model.hf.parameters())
