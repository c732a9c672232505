"""Masked fine-tuning (Madsen et al. 2024): train a model on texts with any share of their tokens masked.

In half of every batch, each text is masked by a share drawn from U(0,1). Masked texts are then in-distribution, so
that faithfulness can be measured on the model itself, without retraining.
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
from assay.datasets.tokens import word_spans
from assay.models.model import Model
from assay.training.classifier import task_loss
from assay.training.encoded import LabelledBatch


def half_masked_loss(module: Any, item: LabelledBatch) -> Tensor:
    """The loss with a random half of the rows masked. The training loop seeds torch for every step."""
    ids, model = item.batch.ids, module.model
    shares = torch.rand(len(ids), 1)
    shares[torch.randperm(len(ids))[: (len(ids) + 1) // 2]] = 0  # the unmasked half
    hit = (torch.rand(ids.shape) < shares).to(ids.device) & maskable(model, ids)
    masked = replace(item.batch, ids=torch.where(hit, mask_id(model), ids))
    return task_loss(module, replace(item, batch=masked))


def maskable(model: Model, ids: Tensor) -> Tensor:
    """(B,T) True for ordinary tokens, the unknown token and the mask; False for other special tokens."""
    special = set(model.tokenizer.all_special_ids) - {model.tokenizer.unk_token_id, mask_id(model)}
    return ~torch.isin(ids, torch.tensor(sorted(special), device=ids.device))


def mask_id(model: Model) -> int:
    token_id = getattr(model.tokenizer, "mask_token_id", None)
    if token_id is None:
        raise ModelError(f"{model.name} has no mask token, which masked fine-tuning needs; choose an encoder")
    return int(token_id)


def with_masked_copy(data: Dataset, seed: int = 0) -> Dataset:
    """The data followed by a masked copy, fixed by `seed`: validation data for masked fine-tuning."""
    return replace(data, examples=(*data.examples, *uniformly_masked(data, seed).examples))


def uniformly_masked(data: Dataset, seed: int = 0) -> Dataset:
    """Mask a share from U(0,1) of the words of each example, in both its texts."""
    return replace(data, examples=tuple(_masked(example, seed) for example in data))


def _masked(example: Example, seed: int) -> Example:
    texts = (example.text or "", example.text_pair or "")
    spans = [Span(i, *span) for i, text in enumerate(texts) for span in word_spans(text)]
    rng = generator("uniformly masked", seed, example.content)
    hit = rng.random(len(spans)) < rng.random()
    return replace(example, removed=tuple(span for span, h in zip(spans, hit, strict=True) if h))
