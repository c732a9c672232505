"""Replace units by random tokens of the vocabulary; positions stay the same."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import torch
from torch import Tensor

from assay.core.rng import generator
from assay.core.types import Bools
from assay.models.encoding import SPECIAL, Batch, Encoding, Ints, Rows

if TYPE_CHECKING:
    from assay.models.model import Model


@dataclass(frozen=True)
class RandomToken:
    """Replaces each removed token by a token that is not special, drawn once for each position of a text."""

    name: ClassVar[str] = "random_token"
    shortens: ClassVar[bool] = False

    def available(self, model: Model) -> str | None:
        if model.family.images:
            return "an image model has no vocabulary"
        return "a function has no vocabulary" if model.family.opaque else None

    def rows(self, model: Model, encoding: Encoding, keep: Bools) -> Rows:
        rows = encoding.rows(len(keep))
        return replace(rows, ids=np.where(keep, rows.ids, drawn_tokens(model, encoding)))

    def reference(self, model: Model, batch: Batch) -> Tensor:
        other = batch.ids.clone()
        for row, encoding in zip(other, batch.encodings, strict=True):
            row[: len(encoding)] = torch.from_numpy(drawn_tokens(model, encoding)).to(row)
        # special tokens stay while the rest is looked up: a look-up may depend on them (the second text of a BiLSTM)
        other = torch.where(batch.playing, other, batch.ids)
        own, drawn = (model.embeddings(replace(batch, ids=ids, embeddings=None)) for ids in (batch.ids, other))
        return torch.where(batch.playing.unsqueeze(-1), drawn, own)


def drawn_tokens(model: Model, encoding: Encoding) -> Ints:
    """(T,) a token for each position, seeded by the text."""
    rng = generator("random token", encoding.example.content)
    own = {int(i) for i, span in zip(encoding.ids, encoding.spans, strict=True) if span == SPECIAL}
    special = own | set(model.tokenizer.all_special_ids)
    ids = rng.integers(0, len(model.tokenizer), len(encoding))
    while clash := [i for i, token in enumerate(ids) if int(token) in special]:
        ids[clash] = rng.integers(0, len(model.tokenizer), len(clash))
    return ids.astype(np.int64)
