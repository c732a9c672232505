"""Soft masks and their ablations: every form of the losses and every reference, by finite differences and by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch

import assay
from assay.core.types import Target
from assay.explainers.learned.parts.losses import LossWeights, sparsity_loss
from assay.explainers.learned.parts.soft_mask import MaskingLoss, class_mixture, masked_batch
from assay.explainers.white_box import batch_with_units
from assay.masking.removal import REMOVALS
from assay.masking.removal.random_token import drawn_tokens
from assay.masking.units import divide
from assay.models.load import save_model
from assay.models.target import Targets
from families import SHOTS, WORDS, causal_lm, fresh
from tiny_tokenizers import gpt2_tokenizer, llama_tokenizer
from toys import bert

TEXTS = ["the film is good", "a modest pleasure that"]


def double(model):
    model.hf.double()
    return model


def inputs_of(model, removal="mask_token", *, soft=True, learned=None, texts=TEXTS):
    batch = batch_with_units(model, [divide(model.encode(assay.Example(text))) for text in texts])
    with torch.no_grad():
        targets = Targets((Target(None),) * len(texts), "logit", False).resolve(model.logits(batch))
    return masked_batch(model, batch, targets, removal, soft=soft, learned=learned)


def some_logits(inputs, seed=1):
    shape = inputs.reference.shape[:2]
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)).requires_grad_()


def differences(function, at, h=1e-5):
    """The gradient of a scalar function by central differences."""
    out = torch.zeros_like(at)
    with torch.no_grad():
        for index in product(*map(range, at.shape)):
            step = torch.zeros_like(at)
            step[index] = h
            out[index] = (function(at + step) - function(at - step)) / (2 * h)
    return out


@pytest.mark.parametrize("removal", ["mask_token", "pad", "unk", "zero", "random_token"])
def test_every_reference(removal):
    """A mask of ones gives the text, of zeros the text with every unit removed, as the removal itself removes it."""
    inputs = inputs_of(double(bert()), removal)
    model, ones = inputs.model, torch.ones(inputs.reference.shape[:2], dtype=torch.float64)
    rows = [
        REMOVALS.make(removal).rows(model, encoding, (encoding.unit_of < 0)[None])
        for encoding in inputs.batch.encodings
    ]
    with torch.no_grad():
        assert torch.allclose(inputs.logits(ones), inputs.full, atol=1e-12)
        emptied = model.logits(model.batch(rows))
        assert torch.allclose(inputs.logits(0 * ones), emptied, atol=1e-12)
    assert (emptied - inputs.full).abs().max() > 1e-3
    loss, at = MaskingLoss(), some_logits(inputs)
    (gradient,) = torch.autograd.grad(loss(inputs, at).sum(), at)
    assert torch.allclose(gradient, differences(lambda z: loss(inputs, z).sum(), at.detach()), atol=1e-7)


@pytest.mark.parametrize("soft", [True, False])
@pytest.mark.parametrize("sparsity", ["bce", "l1"])
@pytest.mark.parametrize("inverse", ["log", "probability", "negative_entropy"])
def test_every_form_has_the_gradient_of_its_value(inverse, sparsity, soft):
    inputs = inputs_of(double(bert(classes=3)), soft=soft)
    loss, at = MaskingLoss(LossWeights(0.7, 0.2, 0.5), inverse, sparsity), some_logits(inputs)
    (gradient,) = torch.autograd.grad(loss(inputs, at).sum(), at)
    assert torch.allclose(gradient, differences(lambda z: loss(inputs, z).sum(), at.detach()), atol=1e-7)
    kept = at.detach().sigmoid()
    with torch.no_grad():
        masked, inverted = (inputs.logits(mask).softmax(-1) for mask in (kept, 1 - kept))
        own = inverted.gather(1, inputs.labels[:, None])[:, 0]
        by_hand = {"log": -(1 - own).log(), "probability": own, "negative_entropy": (inverted * inverted.log()).sum(1)}
        kept_loss = -(class_mixture(inputs.full, inputs.labels, soft=soft) * masked.log()).sum(1)
        short = sparsity_loss(at, inputs.batch.playing, sparsity)
        assert torch.allclose(loss(inputs, at), 0.7 * kept_loss + 0.2 * short + 0.5 * by_hand[inverse], atol=1e-12)


@pytest.mark.parametrize(("weights", "missing"), [((0.0, 0.5, 2.0), "preservation"), ((3.0, 0.5, 0.0), "inverse")])
def test_a_loss_without_weight_costs_no_pass(weights, missing):
    inputs = inputs_of(double(bert()))
    at = some_logits(inputs)
    before = inputs.model.passes.forwards
    with torch.no_grad():
        alone = MaskingLoss(LossWeights(*weights))(inputs, at)
        assert inputs.model.passes.forwards - before == len(TEXTS)
        named = dict(zip(("preservation", "sparsity", "inverse"), weights, strict=True))
        parts = [
            MaskingLoss(LossWeights(**{n: (w if n == name else 0.0) for n, w in named.items()}))(inputs, at)
            for name in named
        ]
    assert torch.allclose(alone, sum(parts), atol=1e-12)
    assert missing not in {name for name, weight in named.items() if weight}


def test_hard_masks_have_the_gradient_of_a_blend_at_the_rounded_mask():
    inputs = inputs_of(double(bert()))
    loss, at = MaskingLoss(LossWeights(1, 0, 1), masking="hard"), some_logits(inputs)
    (gradient,) = torch.autograd.grad(loss(inputs, at).sum(), at)
    rounded, slope = (at > 0).double(), at.sigmoid() * (1 - at.sigmoid())

    def of_mask(mask):  # the same losses as a function of the mask itself
        z = torch.logit(mask.clamp(1e-300, 1 - 1e-16))
        masked, inverted = inputs.logits(mask), inputs.logits(1 - mask)
        p = inverted.softmax(-1).gather(1, inputs.labels[:, None])[:, 0]
        assert z.shape == mask.shape
        return (-(inputs.target * masked.log_softmax(-1)).sum(1) - (1 - p).log()).sum()

    expected = differences(of_mask, rounded) * slope.detach()
    assert torch.allclose(gradient, torch.where(inputs.batch.playing, expected, 0.0), atol=1e-6)
    with torch.no_grad():
        assert torch.allclose(loss(inputs, at).sum(), of_mask(rounded), atol=1e-9)


def test_omission_reads_shorter_texts_and_has_the_gradient_of_a_hard_blend():
    model = double(bert())
    omitted, blended = inputs_of(model, "delete"), inputs_of(model, None)
    at = some_logits(omitted)
    kept = torch.where(omitted.batch.playing, (at > 0).double(), 1.0)
    with torch.no_grad():
        found = omitted.logits(kept)
        for row, encoding, keep in zip(found, omitted.batch.encodings, kept > 0.5, strict=True):
            ids = torch.tensor(encoding.ids)[keep[: len(encoding)]]
            assert len(ids) < len(encoding)
            assert torch.allclose(row, model.hf.eval()(input_ids=ids[None]).logits[0], atol=1e-12)
        assert (found - blended.logits(kept)).abs().max() > 1e-3
    gradients = []
    for inputs in (omitted, blended):
        mask = kept.clone().requires_grad_()
        gradients.append(torch.autograd.grad(inputs.logits(mask)[:, 0].sum(), mask)[0])
    assert torch.allclose(*gradients, atol=1e-12)
    scores = assay.explain(model, TEXTS[0], "mask_optimisation(masking=hard, baseline=delete, steps=2)", progress=False)
    assert np.isfinite(scores.scores).all()


def test_a_learned_reference_is_differentiable_and_stays_outside_special_tokens():
    model = double(bert())
    vector = torch.randn(32, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).requires_grad_()
    at = some_logits(inputs_of(model)).detach()

    def value(learned):
        return MaskingLoss()(inputs_of(model, learned=learned), at).sum()

    (gradient,) = torch.autograd.grad(value(vector), vector)
    assert gradient.abs().max() > 1e-5
    assert torch.allclose(gradient, differences(value, vector.detach()), atol=1e-7)
    inputs = inputs_of(model, learned=vector.detach())
    special = ~inputs.batch.playing
    assert torch.equal(inputs.reference[special], model.embeddings(inputs.batch)[special])
    assert (inputs.reference[~special] == vector).all()


def test_random_tokens_belong_to_the_text_and_are_never_special():
    model = bert()
    one, again, other = (divide(model.encode(assay.Example(text))) for text in (TEXTS[0], TEXTS[0], "the film is bad"))
    assert np.array_equal(drawn_tokens(model, one), drawn_tokens(model, again))
    assert not np.array_equal(drawn_tokens(model, one), drawn_tokens(model, other))
    many = divide(model.encode(assay.Example(" ".join(["good"] * 25))))
    assert not set(drawn_tokens(model, many)) & set(model.tokenizer.all_special_ids)
    assert "no vocabulary" in REMOVALS.make("random_token").available(fresh("vit"))


# --- prompts -----------------------------------------------------------------------------------------------------


def prompted(family="llama"):
    if family == "llama":
        lm = causal_lm("Llama", llama_tokenizer(), num_key_value_heads=2, max_position_embeddings=128)
        return assay.load_model(lm.double(), llama_tokenizer(), prompt=SHOTS, labels=WORDS)
    lm = causal_lm("GPT2", gpt2_tokenizer(), max_position_embeddings=128)
    return assay.load_model(lm.double(), gpt2_tokenizer(), prompt=SHOTS, labels=WORDS)


@pytest.mark.parametrize("family", ["llama", "gpt2"])
def test_blends_reach_the_slot_only_and_the_prefix_is_read_once(family):
    """Logits and gradients are those of the whole prompt; what passes the model is the rest behind the prefix."""
    model = prompted(family)
    inputs = inputs_of(model, "zero", texts=["the film is bright and funny", "rain fell"])
    batch, embeddings = inputs.batch, model.embeddings(inputs.batch)
    assert torch.equal(inputs.reference[~batch.playing], embeddings[~batch.playing])
    assert batch.prefix > 12
    assert not batch.playing[:, : batch.prefix].any()
    seen, results = [], []
    lookup = model.hf.base_model.get_input_embeddings()
    for given in (inputs, replace(inputs, batch=replace(batch, prefix=0))):
        mask = torch.full(batch.ids.shape, 0.3, dtype=torch.float64, requires_grad=True)
        handle = lookup.register_forward_hook(lambda m, a, out: seen.append(tuple(out.shape[:2])))
        logits = given.logits(mask)
        handle.remove()
        results.append((logits.detach(), torch.autograd.grad(logits[:, 0].sum(), mask)[0]))
    width = batch.ids.shape[1]
    assert (1, batch.prefix) in seen
    assert (2, width - batch.prefix) in seen
    for once, whole in zip(*results, strict=True):
        assert torch.allclose(once, whole, atol=1e-9)
    assert results[0][1].abs().max() > 1e-4


@pytest.mark.filterwarnings("ignore:.*no validation split", "ignore:.*has no mask token", "ignore:.*no better than")
@pytest.mark.parametrize("architecture", ["trunk", "encoder"])
def test_a_prompted_model_in_half_precision_with_an_encoder_of_another_tokenizer(architecture, tmp_path):
    save_model(fresh("bert"), tmp_path / "base")
    model = prompted()
    model.hf.bfloat16()
    base = {"base": str(tmp_path / "base")} if architecture == "encoder" else {}
    texts = [f"{a} {b}" for a in ("the film is bright", "rain fell", "the soup was good") for b in "abcdefgh"]
    explainer = assay.fit(
        model, texts, objective="masking", architecture=architecture, epochs=1, progress=False, **base
    )
    saved = explainer.save_pretrained(tmp_path / "explainer")
    found = assay.explain(model, ["the film is bright and funny", "🙂 rain"], saved, progress=False)
    assert all(np.isfinite(a.scores).all() and np.ptp(a.scores) > 0 for a in found)
    refined = assay.explain(model, "the film is bright", replace(saved, steps=2), progress=False)
    assert np.isfinite(refined.scores).all()
