"""Masked fine-tuning: which half, which words, how many; the same again after a kill; and what it is for."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from assay.core.types import Example
from assay.datasets.dataset import Dataset
from assay.models.encode import TextEncoder
from assay.training.classifier import Trainable, initial_model
from assay.training.encoded import encode_dataset
from assay.training.masked_finetuning import half_masked_loss, mask_id, maskable, uniformly_masked, with_masked_copy

WORDS = [f"w{i}" for i in range(20)]


def data(n, paired=False, seed=0):
    rng = np.random.default_rng(seed)
    texts = [" ".join(rng.choice(WORDS, 12)) for _ in range(n)]
    pair = {"text_pair": "w1 w2 w3"} if paired else {}
    return Dataset(tuple(Example(t, id=str(i), label=i % 2, **pair) for i, t in enumerate(texts)), "d", ("a", "b"))


@pytest.mark.parametrize("paired", [False, True])
def test_half_of_the_rows_lose_words_and_no_symbol_is_lost(monkeypatch, paired):
    part = data(40, paired)
    model = initial_model("bilstm_attention(hidden=3, width=4)", part, part)
    item = encode_dataset(model, part, progress=False).batch(range(40))
    seen = []
    monkeypatch.setattr(
        "assay.training.masked_finetuning.task_loss",
        lambda module, item: seen.append(item.batch.ids) or torch.zeros(()),
    )
    torch.manual_seed(0)
    for _ in range(50):
        half_masked_loss(Trainable(model), item)
    changed = torch.stack(seen) != item.batch.ids  # (50,B,T)
    assert (torch.stack(seen)[changed] == mask_id(model)).all()
    assert not (changed & ~maskable(model, item.batch.ids)).any()
    assert (changed.any(-1).sum(1) <= 20).all()  # half stay whole
    rates = changed.sum(-1) / maskable(model, item.batch.ids).sum(-1)
    assert float(rates.mean()) == pytest.approx(0.25, abs=0.02)  # half of the rows, half of the words of each
    touched = rates[rates > 0]
    assert float((touched > 0.75).float().mean()) == pytest.approx(0.25, abs=0.05)  # all shares alike
    if paired:
        assert changed[..., -4:-1].any()  # words of the second text too


def test_the_masked_copy_is_always_the_same():
    part = data(300, paired=True)
    both = with_masked_copy(part)
    assert len(both) == 600
    assert [e.removed for e in both[:300]] == [()] * 300
    again = uniformly_masked(part)
    assert [e.removed for e in both[300:]] == [e.removed for e in again]
    shares = np.array([len(e.removed) / 15 for e in again])
    assert shares.mean() == pytest.approx(0.5, abs=0.05)
    assert np.histogram(shares, 3, (0, 1))[0].min() > 70
    assert {span.segment for e in again for span in e.removed} == {0, 1}


def test_a_tokenizer_without_a_mask_is_refused():
    from assay.core.errors import ModelError
    from families import model_of

    model = model_of("gpt2")
    assert isinstance(model.encoder, TextEncoder)
    with pytest.raises(ModelError, match="no mask token"):
        mask_id(model)
