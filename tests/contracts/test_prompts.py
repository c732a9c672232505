"""Prompted causal models: caching the constant prefix saves time and changes no result."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

import assay
from assay.core.types import Example
from assay.models.prompt import Prompt
from families import SHOTS, WORDS, causal_lm, fresh
from runs import explain
from tiny_tokenizers import gpt2_tokenizer, llama_tokenizer, mistral_tokenizer

TEXTS = ["the film is bright and funny", "rain fell", "the soup was good and the bread was bad"]
LMS = {
    "gpt2": lambda: causal_lm("GPT2", gpt2_tokenizer(), n_positions=128),
    "llama": lambda: causal_lm("Llama", llama_tokenizer(), num_key_value_heads=2, max_position_embeddings=128),
    "mistral": lambda: causal_lm(
        "Mistral", mistral_tokenizer(), num_key_value_heads=2, sliding_window=6, max_position_embeddings=128
    ),
}
TOKENIZERS = {"gpt2": gpt2_tokenizer, "llama": llama_tokenizer, "mistral": mistral_tokenizer}


def prompted(family, prompt=SHOTS, model=None):
    return assay.load_model(model or LMS[family](), TOKENIZERS[family](), prompt=prompt, labels=WORDS)


def forwards_of(model, batch):
    """Logits, and the shapes of what passed the embedding layer."""
    seen = []
    handle = model.hf.base_model.get_input_embeddings().register_forward_hook(lambda m, a, out: seen.append(out.shape))
    try:
        with torch.no_grad(), model.frozen():
            first = model.logits(batch)
            again = model.logits(batch)
    finally:
        handle.remove()
    assert torch.equal(first, again)
    return first, seen


@pytest.mark.parametrize("family", LMS)
def test_the_prefix_cache_changes_nothing(family):
    """Same logits with and without it for a batch of different lengths; it does save the prefix."""
    model = prompted(family)
    batch = model.batch([model.encode(Example(text=text)) for text in TEXTS])
    assert batch.prefix > 12
    cached, short = forwards_of(model, batch)
    plain, long = forwards_of(model, replace(batch, prefix=0))
    assert (cached - plain).abs().max() < 1e-5
    width = batch.ids.shape[1]
    assert [tuple(s[:2]) for s in short] == [(1, batch.prefix), *[(3, width - batch.prefix)] * 2]
    assert [tuple(s[:2]) for s in long] == [(3, width)] * 2
    assert (plain[0] - plain[1]).abs().max() > 1e-3


@pytest.mark.parametrize("family", LMS)
def test_masks_with_and_without_the_cache_agree(family):
    """Occlusion gives the same scores with a cached prefix and without."""
    model, text = prompted(family), TEXTS[0]
    removal = "zero" if family == "llama" else "unk"
    for name in (removal, "delete"):
        attribution = explain(model, text, "occlusion", removal=name, target=assay.Target(scale="logit"))
        uncached = prompted(family)
        uncached.encoder = _WithoutPrefix(uncached.encoder)
        expected = explain(uncached, text, "occlusion", removal=name, target=assay.Target(scale="logit"))
        assert np.allclose(attribution.scores, expected.scores, atol=2e-5)
        assert np.abs(attribution.scores).max() > 0.1


class _WithoutPrefix:
    def __init__(self, encoder):
        self.encoder = encoder

    def __call__(self, example):
        return replace(self.encoder(example), prefix=0)


def test_rows_whose_prefixes_differ_share_only_what_is_equal():
    """White space at the start of the slot may count as prefix: two inputs then differ inside it."""
    model = prompted("gpt2")
    batch = model.batch([model.encode(Example(text=text)) for text in TEXTS])
    other = replace(batch, ids=batch.ids.clone(), prefix=batch.prefix)
    other.ids[1, batch.prefix - 1] = 9
    with torch.no_grad():
        expected = model.logits(replace(other, prefix=0))
        assert (model.logits(other) - expected).abs().max() < 1e-5
        assert (model.logits(batch) - expected)[1].abs().max() > 1e-3


def test_the_cache_does_not_outlive_a_call():
    """The user may train the model between two explanations."""
    model = prompted("llama")
    explain(model, TEXTS[0], "occlusion")
    with torch.no_grad():
        model.hf.base_model.layers[0].self_attn.v_proj.weight.mul_(-1)
    attribution = explain(model, TEXTS[0], "occlusion")
    expected = explain(prompted("llama", model=model.hf), TEXTS[0], "occlusion")
    assert np.allclose(attribution.scores, expected.scores, atol=1e-6)


def test_a_prompt_that_ends_with_its_slot_survives_the_deletion_of_all_of_it():
    prompt = Prompt("Is it good or bad? It is not bad, it is rather good. {text}")
    model = prompted("gpt2", prompt)
    attribution = explain(model, TEXTS[1], "kernel_shap", removal="delete")
    assert np.isfinite(attribution.scores).all()
    ids = gpt2_tokenizer()(prompt.template.replace(" {text}", ""), return_tensors="pt")["input_ids"]
    with torch.no_grad():
        logits = model.hf.eval()(input_ids=ids).logits[0, -1]
    pair = torch.stack([logits[gpt2_tokenizer()(w)["input_ids"][0]] for w in WORDS.values()]).double()
    assert attribution.value_empty == pytest.approx(float(pair.softmax(0)[attribution.target.label]), abs=1e-5)


def test_a_pair_fills_two_slots():
    model = prompted("llama", Prompt("Review: {text}\nIs it {text_pair}?\nSentiment:"))
    attribution = explain(model, ("the soup was good", "rather bad"), "occlusion")
    assert [u.segment for u in attribution.units] == sorted(u.segment for u in attribution.units)
    assert {u.segment for u in attribution.units} == {0, 1}
    text = "Review: the soup was good\nIs it rather bad?\nSentiment:"
    encoding = model.encode(Example("the soup was good", "rather bad"))
    assert encoding.ids.tolist() == llama_tokenizer()(text)["input_ids"]


def test_few_shot_examples_are_context():
    model = fresh("llama-few_shot")
    with_shots = explain(model, TEXTS[2], "occlusion")
    without = explain(fresh("llama-prompted"), TEXTS[2], "occlusion")
    assert [u.text for u in with_shots.units] == [u.text for u in without.units]
    assert np.abs(with_shots.scores - without.scores).max() > 1e-3


@pytest.mark.parametrize("method", ["integrated_gradients", "gradient_x_input", "decompx"])
def test_the_default_is_what_speaks_for_a_label_rather_than_for_the_others(method):
    """What raises the logits of all label words alike, as most context does, is no evidence for one of them."""
    model = prompted("llama")
    bad, good = model.readout.tokens
    with torch.no_grad():
        head = model.hf.lm_head.weight
        shared = torch.randn(head.shape[1], generator=torch.Generator().manual_seed(0))
        before = explain(model, TEXTS[0], method, target="negative").scores
        head[[bad, good]] += 3 * shared
    model.weights_changed()
    default = explain(model, TEXTS[0], method, target="negative")
    contrast = explain(model, TEXTS[0], method, target=assay.Target("negative", against="positive"))
    alone = explain(model, TEXTS[0], method, target=assay.Target("negative", scale="logit"))
    assert (default.target.scale, contrast.target.scale) == ("log_odds", "logit")
    assert default.scores == pytest.approx(contrast.scores, abs=1e-4)
    assert default.scores == pytest.approx(before, abs=1e-3)
    assert (np.sign(alone.scores) != np.sign(default.scores)).any(), "one logit alone can have the wrong sign"


def test_the_default_with_three_labels_is_the_odds_against_both_others():
    model = assay.load_model(
        LMS["llama"](), llama_tokenizer(), prompt=SHOTS, labels={"a": " bad", "b": " good", "c": " film"}
    )
    default, odds = (
        explain(model, TEXTS[0], "integrated_gradients", target=t) for t in ("a", assay.Target("a", scale="log_odds"))
    )
    assert np.array_equal(default.scores, odds.scores)
