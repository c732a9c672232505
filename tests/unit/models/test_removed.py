"""A masked data set is examples plus masks: the encoder replaces what was removed and nothing else moves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

import assay
from assay.core.errors import ModelError
from assay.core.types import Example, Span
from assay.datasets.dataset import Dataset
from assay.masking.game import Game
from assay.masking.removal import removal_for
from assay.masking.removal.mean_colour import MeanColour
from assay.masking.units import divide
from assay.training.encoded import encode_dataset
from families import CASES, TEXT_FAMILIES, model_of
from runs import quiet
from stock import example, ours


def spans_of(encoding, units):
    return tuple(Span(encoding.units[u].segment, encoding.units[u].start, encoding.units[u].end) for u in units)


@pytest.mark.parametrize("case", [name for name in TEXT_FAMILIES if name != "llama"])
def test_removed_for_good_is_removed_by_the_model(case):
    """The logits are those of the Game with the same units removed; spans, positions and read-out stay."""
    model = model_of(case)
    with quiet():
        removal = removal_for(model, None)
    for given in CASES[case].inputs[:3]:
        whole = divide(model.encode(example(given)))
        gone = [0, whole.players - 1]
        masked = replace(whole.example, removed=spans_of(whole, gone))
        encoding = divide(model.encode(masked))
        keep = np.ones((1, whole.players), bool)
        keep[0, gone] = False
        expected = Game(model, [whole], removal, 4096).outputs([(0, keep)])[0]
        assert torch.allclose(ours(model, model.batch([encoding])), torch.from_numpy(expected), atol=1e-5)
        assert encoding.units == whole.units
        assert (encoding.positions == whole.positions).all()
        assert encoding.readout == whole.readout
        changed = encoding.ids != whole.ids
        assert set(whole.unit_of[changed]) <= set(gone)
        assert changed.any()


def test_pairs_only_lose_what_was_named():
    """The same characters of the other text, and all special tokens, stay."""
    model = model_of("bilstm_attention-paired")
    given = Example("good film good", "good film good")
    masked = model.encode(replace(given, removed=(Span(0, 5, 9),)))
    whole = model.encode(given)
    assert [int(i) for i in np.flatnonzero(masked.ids != whole.ids)] == [2]
    assert masked.ids[2] == model.tokenizer.mask_token_id


def test_many_spans_in_any_order():
    model = model_of("bilstm_attention")
    text = "the film is bright and funny but never finds its way home"
    whole = divide(model.encode(Example(text)))
    rng = np.random.default_rng(0)
    for _ in range(20):
        gone = rng.permutation(whole.players)[: rng.integers(1, whole.players)]
        masked = model.encode(Example(text, removed=spans_of(whole, gone)))
        assert set(whole.unit_of[masked.ids == model.tokenizer.mask_token_id]) == set(gone)


def test_a_masked_example_is_another_example():
    """For random generators, data fingerprints and what is trained on; an unmasked one keeps its old names."""
    one, other = Example("good film", id="a"), Example("good film", id="a", removed=(Span(0, 0, 4),))
    assert one.content == "good film\x1e\x1e"
    assert one.content != other.content
    assert Dataset((one,)).fingerprint != Dataset((other,)).fingerprint
    model = model_of("bilstm_attention")
    rows = [encode_dataset(model, Dataset((replace(e, label=0),), "d", model.labels)).rows[0].ids for e in (one, other)]
    assert (rows[0] != rows[1]).sum() == 1


def test_explanations_see_the_mask():
    """A masked word has a score of its own place and text, but the model reads [MASK] there."""
    model = model_of("bilstm_attention")
    a = assay.explain(model, Example("good film", removed=(Span(0, 0, 4),)), "gradient", progress=False)
    b = assay.explain(model, "[MASK] film", "gradient", progress=False)
    assert [u.text for u in a.units] == ["good", "film"]
    assert a.value_full == pytest.approx(b.value_full, abs=1e-5)


def test_a_tokenizer_without_a_blank_is_refused():
    with pytest.raises(ModelError, match="no mask, pad or unk"):
        model_of("llama").encode(Example("good film", removed=(Span(0, 0, 4),)))


def test_removed_patches_are_those_of_the_removal():
    """An image without patches is read as the game reads it with these patches removed by mean_colour."""
    model, image = model_of("vit"), CASES["vit"].inputs[0]
    whole = divide(model.encode(Example(image=image)), "patch")
    keep = np.ones((1, len(whole)), bool)
    keep[0, model.family.lead + np.array([0, 2])] = False
    expected = MeanColour().rows(model, whole, keep).pixels
    edited = model.encode(replace(whole.example, removed=(Span(0, 0, 1), Span(0, 2, 3))))
    assert edited.pixels == pytest.approx(expected[0])
    assert not np.array_equal(edited.picture, whole.picture)
