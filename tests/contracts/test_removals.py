"""A removal changes nothing else: the read-out, positions, the other segment and the template stay."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch

import assay
from assay.masking.game import Game
from assay.masking.removal import REMOVALS
from assay.models.readout import AssayHead
from families import CASES, FAMILIES, LABELS, TEXT_FAMILIES, fresh, model_of
from runs import quiet
from stock import CAUSAL, close, encoded, stock, stock_logits
from tiny_tokenizers import gpt2_tokenizer, llama_tokenizer

SINGLE = "the film is bright and funny"

# --- a removal changes nothing else ------------------------------------------------------------------------------


def _without(case, given, index, removal, model=None):
    """Our logits with one unit removed."""
    model = model or model_of(case)
    (encoding,) = encoded(model, [given])
    keep = np.ones((1, encoding.players), bool)
    keep[0, index] = False
    game = Game(model, [encoding], REMOVALS.make(removal), 4096)
    return torch.from_numpy(game.outputs([(0, keep)])[0][0])


@pytest.mark.parametrize("removal", ["pad", "unk"])
def test_gpt2_is_read_where_it_was_when_its_last_token_is_masked(removal):
    """With pad = end of text, the usual setting, the stock classifier pools the position before a masked end."""
    model = fresh("gpt2")
    tokenizer = copy.deepcopy(gpt2_tokenizer())
    tokenizer.pad_token = tokenizer.eos_token
    model.hf.config.pad_token_id = tokenizer.eos_token_id
    model = assay.load_model(model.hf, tokenizer)
    ids = tokenizer(SINGLE, return_tensors="pt")["input_ids"]
    ids[0, -1] = tokenizer.eos_token_id
    hf = stock(model)
    with torch.no_grad():
        hidden = hf.transformer(ids).last_hidden_state[0]  # (T,D)
        expected, moved = hf.score(hidden[-1]), hf(ids).logits[0]
    close(_without("gpt2", SINGLE, -1, removal, model), expected)
    assert (expected - moved).abs().max() > 0.05  # the stock model does shift


@pytest.mark.parametrize("case", ["roberta", "xlm_roberta", "mpnet"])
def test_pads_in_the_text_do_not_shift_positions(case):
    """These models count positions from ids that are not pad; a pad as removal must leave every position in place."""
    model = model_of(case)
    hf, tokenizer = stock(model), model.tokenizer
    ids = tokenizer(SINGLE, return_tensors="pt")["input_ids"]
    first = tokenizer.pad_token_id + 1
    positions = torch.arange(first, first + ids.shape[1])[None]
    with torch.no_grad():
        close(hf(ids).logits, hf(ids, position_ids=positions).logits)  # what the model does with the whole text
        ids[0, 2] = tokenizer.pad_token_id
        expected = hf(ids, attention_mask=torch.ones_like(ids), position_ids=positions).logits[0]
        moved = hf(ids, attention_mask=torch.ones_like(ids)).logits[0]
    close(_without(case, SINGLE, 1, "pad"), expected)
    assert (expected - moved).abs().max() > 0.01  # the stock model does shift


@pytest.mark.parametrize(
    ("case", "removal"),
    [
        (case, removal)
        for case in TEXT_FAMILIES
        if case not in CAUSAL  # their read-out has a test of its own
        for removal in CASES[case].removals
        if removal in ("mask_token", "pad", "unk")
    ],
)
def test_a_token_replaces_another_and_nothing_else_changes(case, removal):
    """By hand through transformers: the same ids but one, attention 1, positions 0, 1, 2, ..."""
    model = model_of(case)
    hf, tokenizer = stock(model), model.tokenizer
    inputs = dict(tokenizer(*CASES[case].inputs[2], return_tensors="pt"))
    (encoding,) = encoded(model, [CASES[case].inputs[2]])
    place = int(np.flatnonzero(encoding.unit_of == 4)[0])
    inputs["input_ids"][0, place] = getattr(tokenizer, f"{removal.split('_')[0]}_token_id")
    if model.family.positions == "after_pad":
        inputs["position_ids"] = torch.arange(len(encoding))[None] + tokenizer.pad_token_id + 1
    with torch.no_grad():
        out = hf(**inputs)
        head = model.readout.head.classifier if isinstance(model.readout, AssayHead) else None
        expected = out.logits[0] if head is None else head(out.last_hidden_state[0].mean(0))
    close(_without(case, CASES[case].inputs[2], 4, removal), expected)


@pytest.mark.parametrize("case", TEXT_FAMILIES)
def test_delete_is_the_shorter_text(case):
    """Deleting a word, the last one included, gives the logits of the text without it."""
    model, words = model_of(case), SINGLE.split()
    (encoding,) = encoded(model, [SINGLE], "word")
    assert [u.text for u in encoding.units] == words
    game = Game(model, [encoding], REMOVALS.make("delete"), 4096)
    logits = torch.from_numpy(game.outputs([(0, ~np.eye(len(words), dtype=bool))])[0])
    shorter = [" ".join(w for j, w in enumerate(words) if j != i) for i in range(len(words))]
    # a byte-level tokenizer encodes a word differently without the space before it: skip the first word
    aligned = [i for i in range(len(words)) if i > 0 or case not in ("roberta", "gpt2", "llama")]
    for i in aligned:
        close(logits[i], stock_logits(case, shorter[i]))
    assert (logits[1] - logits[2]).abs().max() > 0.01


def test_mean_colour_fills_the_patch():
    model, image = model_of("vit"), CASES["vit"].inputs[0]
    pixels = model.encoder.processor(images=image, return_tensors="pt")["pixel_values"]
    pixels[0, :, 0:8, 8:16] = pixels[0].mean((1, 2))[:, None, None]  # patch 1: first row, second column
    with torch.no_grad():
        expected = stock(model)(pixel_values=pixels).logits[0]
    close(_without("vit", image, 1, "mean_colour"), expected)


@pytest.mark.parametrize("case", ["vit", "dinov2"])
def test_a_zero_patch_keeps_its_position(case):
    model, image = model_of(case), CASES[case].inputs[0]
    hf = stock(model)
    patches = hf.base_model.embeddings.patch_embeddings
    forward = patches.forward

    def blank(pixels, *args, **kwargs):
        out = forward(pixels, *args, **kwargs).clone()
        out[:, 5] = 0
        return out

    patches.forward = blank
    with torch.no_grad():
        expected = hf(**model.encoder.processor(images=image, return_tensors="pt")).logits[0]
    close(_without(case, image, 5, "zero"), expected)


# --- pairs -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CAUSAL)
def test_pairs_without_a_separator_get_the_end_of_text_token(case):
    model = model_of(case)
    first, second = CASES[case].inputs[2]
    (encoding,) = encoded(model, [(first, second)])
    end = model.tokenizer.eos_token_id
    places = np.flatnonzero(encoding.ids == end)
    assert len(places) == 1
    assert encoding.unit_of[places[0]] == -1  # never scored, never removed
    segments = [encoding.units[u].segment for u in encoding.unit_of if u >= 0]
    assert segments == sorted(segments)
    assert [encoding.units[u].segment for u in encoding.unit_of[: places[0]] if u >= 0][-1] == 0
    assert encoding.units[encoding.unit_of[places[0] + 1]].segment == 1
    for name in set(CASES[case].removals) - {"delete"}:
        rows = REMOVALS.make(name).rows(model, encoding, (encoding.unit_of < 0)[None])
        assert rows.ids[0, places[0]] == end
        assert rows.weights is None or rows.weights[0, places[0]] == 1


@pytest.mark.parametrize("case", TEXT_FAMILIES)
@pytest.mark.parametrize("scope", ["text", "text_pair"])
def test_scope_scores_one_segment_and_keeps_the_other(case, scope):
    model, pair = model_of(case), CASES[case].inputs[2]
    with quiet():
        attribution = assay.explain(model, pair, "occlusion", scope=scope)
        whole = assay.explain(model, pair, "occlusion")
    segment = ("text", "text_pair").index(scope)
    expected = [(u, s) for u, s in zip(whole.units, whole.scores, strict=True) if u.segment == segment]
    assert list(attribution.units) == [u for u, _ in expected]
    assert np.allclose(attribution.scores, [s for _, s in expected], atol=1e-6)


# --- prompts -----------------------------------------------------------------------------------------------------


def test_labels_of_every_classifier():
    assert all(model_of(name).labels == LABELS for name in FAMILIES)
    assert model_of("llama-prompted").labels == ("negative", "positive")


@pytest.mark.parametrize("case", ["llama-prompted", "llama-few_shot"])
def test_only_the_slot_is_scored_and_removed(case):
    model = model_of(case)
    for given in CASES[case].inputs:
        (encoding,) = encoded(model, [given])
        text = model.tokenizer.decode(encoding.ids[encoding.unit_of >= 0])
        assert text.strip() == given
        assert model.tokenizer.decode(encoding.ids[encoding.unit_of < 0]).count("Review") == 1 + len(
            model.encoder.prompt.examples
        )


def test_llama_has_a_begin_token_that_is_never_removed():
    (encoding,) = encoded(model_of("llama"), [SINGLE])
    assert encoding.ids[0] == llama_tokenizer().bos_token_id
    assert encoding.unit_of[0] == -1
