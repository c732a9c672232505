"""Masked fine-tuning (Madsen et al. 2024): one model that has seen texts with any share of their words masked.

Half of every batch is masked, each text by a share drawn from U(0,1); afterwards a mask is nothing out of the ordinary,
so that faithfulness can be measured on the model itself, without training it again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from assay.core.errors import ModelError
from assay.core.rng import generator
from assay.core.types import Example, Span
from assay.datasets.dataset import Dataset
from assay.datasets.tokens import words
from assay.models.model import Model
from assay.training.classifier import loss_of
from assay.training.encoded import Labelled


def half_masked_loss(module: Any, item: Labelled) -> Tensor:
    """The loss with a random half of the rows masked. The loop seeds torch by the step: a resumed run draws alike."""
    ids, model = item.batch.ids, module.model
    shares = torch.rand(len(ids), 1)
    shares[torch.randperm(len(ids))[: (len(ids) + 1) // 2]] = 0  # the half that stays whole
    hit = (torch.rand(ids.shape) < shares).to(ids.device) & maskable(model, ids)
    masked = replace(item.batch, ids=torch.where(hit, mask_id(model), ids))
    return loss_of(module, replace(item, batch=masked))


def maskable(model: Model, ids: Tensor) -> Tensor:
    """(B,T) True for words: not for the tokenizer's own symbols but the unknown word, of both texts of a pair."""
    own = set(model.tokenizer.all_special_ids) - {model.tokenizer.unk_token_id, mask_id(model)}
    return ~torch.isin(ids, torch.tensor(sorted(own), device=ids.device))


def mask_id(model: Model) -> int:
    found = getattr(model.tokenizer, "mask_token_id", None)
    if found is None:
        raise ModelError(f"{model.name} has no mask token, so it cannot be trained on masked texts; take an encoder")
    return int(found)


def doubled(data: Dataset, seed: int = 0) -> Dataset:
    """The data and behind it a copy with words masked by shares as in training, always the same: to validate on."""
    return replace(data, examples=(*data.examples, *uniformly_masked(data, seed).examples))


def uniformly_masked(data: Dataset, seed: int = 0) -> Dataset:
    """Every example with a share from U(0,1) of the words of both its texts masked."""
    return replace(data, examples=tuple(_masked(example, seed) for example in data))


def _masked(example: Example, seed: int) -> Example:
    texts = (example.text or "", example.text_pair or "")
    spans = [Span(i, *place) for i, text in enumerate(texts) for place in words(text)]
    rng = generator("uniformly masked", seed, example.content)
    hit = rng.random(len(spans)) < rng.random()
    return replace(example, removed=tuple(span for span, h in zip(spans, hit, strict=True) if h))
