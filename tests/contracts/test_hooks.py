"""Hooks into Hugging Face models: our logits, embeddings, gradients and attention are those of transformers."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
import torch

import assay
from assay.masking.removal import REMOVALS
from assay.models.readout import AssayHead
from assay.models.target import Targets
from families import CASES, TEXT_FAMILIES, fresh, model_of
from stock import close, encoded, example, ours, stock, stock_logits

SINGLE = "the film is bright and funny"

# --- logits ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES)
def test_logits_are_the_stock_logits(case):
    """Alone, and in a batch of different lengths padded on the right."""
    model, inputs = model_of(case), CASES[case].inputs
    expected = torch.stack([stock_logits(case, given) for given in inputs]).float()
    encodings = [model.encode(example(given)) for given in inputs]
    close(torch.cat([ours(model, model.batch([e])) for e in encodings]), expected)
    close(ours(model, model.batch(encodings)), expected)
    assert (expected[0] - expected[1]).abs().max() > 0.05  # the inputs do differ


@pytest.mark.parametrize("case", TEXT_FAMILIES)
def test_the_content_of_padding_does_not_matter(case):
    model = model_of(case)
    batch = model.batch([model.encode(example(given)) for given in CASES[case].inputs])
    other = replace(batch, ids=torch.where(batch.mask > 0, batch.ids, 7), types=batch.types * batch.mask)
    assert not batch.mask.all()
    close(ours(model, other), ours(model, batch))


@pytest.mark.parametrize("case", CASES)
def test_dropout_is_off_though_the_model_trains(case):
    model = fresh(case)
    assert model.hf.training
    batch = model.batch([model.encode(example(CASES[case].inputs[0]))])
    assert torch.equal(ours(model, batch), ours(model, batch))
    assert model.hf.training


# --- embeddings and soft masks -----------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES)
def test_replacing_the_embeddings_by_themselves_changes_nothing(case):
    model = model_of(case)
    batch = model.batch([model.encode(example(given)) for given in CASES[case].inputs])
    with torch.no_grad():
        embeddings = model.embeddings(batch)
        assert torch.equal(model.logits(replace(batch, embeddings=embeddings)), ours(model, replace(batch, prefix=0)))
        moved = embeddings + 0.1 * torch.randn(embeddings.shape, generator=torch.Generator().manual_seed(0))
        assert (model.logits(replace(batch, embeddings=moved.to(embeddings))) - ours(model, batch)).abs().max() > 0.01


@pytest.mark.parametrize("case", CASES)
def test_gradients_are_those_of_the_logits(case):
    """The gradient predicts what a small step in embedding space does."""
    model = fresh(case)
    model.hf.double()
    if isinstance(model.readout, AssayHead):
        model.readout.head.double()
    batch = model.batch([model.encode(example(CASES[case].inputs[1]))])
    targets = Targets((assay.Target(0),), "logit")
    gradient, _, embeddings, _ = model.gradients(batch, targets)
    step = torch.randn(embeddings.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    step[:, : model.family.lead] = 0  # a class token is not looked up
    size = 1e-3 / step.norm()
    with torch.no_grad():
        ahead, behind = (model.logits(replace(batch, embeddings=embeddings + s * size * step))[0, 0] for s in (1, -1))
    assert float(ahead - behind) == pytest.approx(2 * float(size * (gradient * step).sum()), rel=0.02, abs=2e-6)
    assert gradient.norm() > 1e-3


def _masks(encoding, count=6):
    rng = np.random.default_rng(len(encoding))
    keep = rng.random((count, encoding.players)) < 0.5
    keep[0], keep[1] = True, False
    return keep


@pytest.mark.parametrize(
    ("case", "removal"), [(case, name) for case in CASES for name in CASES[case].removals if name != "delete"]
)
def test_weights_of_0_and_1_are_the_hard_removal(case, removal):
    model, hard_removal = model_of(case), REMOVALS.make(removal)
    for encoding in encoded(model, CASES[case].inputs):
        keep = _masks(encoding)
        shown = np.concatenate([keep, np.ones((len(keep), 1), bool)], 1)[:, encoding.unit_of]  # (M,T)
        hard = ours(model, replace(model.batch([hard_removal.rows(model, encoding, shown)]), prefix=0))
        batch = replace(
            model.batch([encoding.rows(len(keep))]),
            prefix=0,  # read whole on both sides: a prefix that is read before rounds differently
            unit_of=torch.from_numpy(encoding.unit_of).expand(len(keep), -1),
            encodings=(encoding,) * len(keep),
        )
        with torch.no_grad():
            weights = torch.from_numpy(shown.astype(np.float32)).to(model.dtype)
            soft = model.blend(batch, weights, hard_removal.reference(model, batch))
        if removal == "mean_colour":
            close(soft, hard)  # the convolution rounds a flat patch and a flat picture differently
        else:
            assert torch.equal(soft, hard)
        assert (hard[0] - hard[1]).abs().max() > 0.05


@pytest.mark.parametrize(
    ("case", "removal"), [(case, name) for case in CASES for name in REMOVALS.names if name not in CASES[case].removals]
)
def test_a_removal_that_a_model_lacks_is_refused(case, removal):
    reason = REMOVALS.make(removal).available(model_of(case))
    assert reason
    with pytest.raises(assay.UnsupportedError, match=re.escape(reason)):
        assay.explain(model_of(case), CASES[case].inputs[0], "occlusion", removal=removal)


def test_blend_is_differentiable_in_the_weights():
    model = model_of("bert")
    (encoding,) = encoded(model, [SINGLE])
    batch = replace(model.batch([encoding]), unit_of=torch.from_numpy(encoding.unit_of)[None])
    reference = REMOVALS.make("mask_token").reference(model, batch)
    weights = torch.full(batch.ids.shape, 0.7, requires_grad=True)
    model.blend(batch, weights, reference)[0, 0].backward()
    playing = batch.playing
    assert (weights.grad[playing].abs() > 1e-6).all()
    assert (weights.grad[~playing] == 0).all()  # special tokens stay themselves


# --- attention ---------------------------------------------------------------------------------------------------


class Watch:
    """A tap that records attention and changes nothing."""

    def __init__(self):
        self.probabilities_, self.values_ = {}, {}

    def probabilities(self, layer, probabilities):
        self.probabilities_[layer] = probabilities
        return probabilities

    def values(self, layer, values):
        self.values_[layer] = values
        return values


@pytest.mark.parametrize("case", CASES)
def test_tapped_logits_are_the_plain_logits(case):
    model = model_of(case)
    batch = model.batch([model.encode(example(given)) for given in CASES[case].inputs])
    watch = Watch()
    with torch.no_grad():
        close(model.tapped(batch, watch), ours(model, batch))
    layers, heads, queries = (1, 1, 1) if model.family.recurrent else (2, 4, batch.ids.shape[1])
    assert sorted(watch.probabilities_) == sorted(watch.values_) == list(range(layers))
    for layer in range(layers):
        attention = watch.probabilities_[layer]
        assert attention.shape == (len(batch), heads, queries, batch.ids.shape[1])
        assert torch.allclose(attention.sum(-1), torch.ones(()).to(attention), atol=1e-5)
        assert (attention * (1 - batch.mask)[:, None, None] * batch.mask[:, None, :, None]).abs().max() < 1e-6
        assert watch.values_[layer].shape[-2] == batch.ids.shape[1]


@pytest.mark.parametrize("case", CASES)
def test_taps_see_the_attention_that_transformers_reports(case):
    """Layer by layer, for an eager model."""
    model, given = model_of(case), CASES[case].inputs[0]
    hf = stock(model)
    hf.set_attn_implementation("eager")
    encoding = model.encode(example(given))
    batch = model.batch([encoding])
    inputs = {"pixel_values": batch.pixels} if model.family.images else {"input_ids": batch.ids}
    watch = Watch()
    with torch.no_grad():
        reported = hf(**inputs, output_attentions=True).attentions
        model.tapped(batch, watch)
    for layer, expected in enumerate(reported):
        assert torch.allclose(watch.probabilities_[layer], expected, atol=1e-5)
    assert model.family.recurrent or not torch.allclose(reported[0], reported[1], atol=1e-2)


@pytest.mark.parametrize("case", CASES)
def test_a_tap_can_change_attention(case):
    """The model continues with what a tap returns; otherwise value zeroing would be constant."""
    model = model_of(case)
    batch = model.batch([model.encode(example(CASES[case].inputs[0]))])

    class Flat(Watch):
        def probabilities(self, layer, probabilities):
            return torch.full_like(probabilities, 1 / probabilities.shape[-1])

    class Blank(Watch):
        def values(self, layer, values):
            return torch.zeros_like(values)

    with torch.no_grad():
        plain, flat, blank = ours(model, batch), model.tapped(batch, Flat()), model.tapped(batch, Blank())
    assert (plain - flat).abs().max() > 1e-3
    assert (plain - blank).abs().max() > 1e-3


def test_mistral_has_a_window_and_the_tap_respects_it():
    model = model_of("mistral")
    batch = model.batch([model.encode(example(CASES["mistral"].inputs[0]))])
    assert batch.ids.shape[1] > 2 * model.hf.config.sliding_window
    watch = Watch()
    with torch.no_grad():
        model.tapped(batch, watch)
    far = torch.ones(batch.ids.shape[1], batch.ids.shape[1]).tril(-model.hf.config.sliding_window).bool()
    assert all(float(p[..., far].max()) == 0.0 for p in watch.probabilities_.values())


def test_dinov2_is_read_at_the_class_token_and_the_mean_of_the_patches():
    """Chefer et al. by hand: the mean of the rows of the product that the classifier reads."""
    model, given = model_of("dinov2"), CASES["dinov2"].inputs[0]
    hf = stock(model)
    hf.set_attn_implementation("eager")
    out = hf(**model.encoder.processor(images=given, return_tensors="pt"), output_attentions=True)
    label = int(out.logits[0].argmax())
    gradients = torch.autograd.grad(out.logits[0, label], out.attentions)
    relevance = torch.eye(17)
    for attention, gradient in zip(out.attentions, gradients, strict=True):
        relevance = relevance + (attention * gradient)[0].clamp(min=0).mean(0) @ relevance
    expected = (relevance[0] + relevance[1:].mean(0))[1:] / 2
    attribution = assay.explain(model, given, "attention_x_gradient")
    assert np.allclose(attribution.scores, expected.detach().numpy(), atol=1e-5)
