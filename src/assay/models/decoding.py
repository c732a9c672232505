"""Decoding: a language model reads rows of tokens and goes on token by token; what it has read is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache

from assay.core import interrupts
from assay.models.model import Model, NotFiniteError, wide


class Decoding:
    """The next-token logits (B,V) of rows that grow by one token at a time.

    Rows are padded on the left, other than everywhere else: the next tokens of all rows then have the same place, and
    windows of attention reach equally far.
    """

    def __init__(self, model: Model, rows: Sequence[Sequence[int]]) -> None:
        width = max(map(len, rows))
        pads = torch.tensor([width - len(row) for row in rows])
        ids = torch.tensor([[model.pad_id] * (width - len(row)) + list(row) for row in rows])
        place = torch.arange(width)
        self.model = model
        self._cache: Any = DynamicCache()  # the model's own cache would drop what lies outside a sliding window
        self._mask = (place >= pads[:, None]).long().to(model.device)
        self._positions = (place - pads[:, None]).clamp(min=0).to(model.device)
        self.logits = self._run(ids.to(model.device))
        model.passes.forwards += len(rows)

    def feed(self, tokens: Sequence[int]) -> None:
        """Append a token to each row; `logits` are then those of the token after it."""
        self._mask = torch.cat([self._mask, self._mask.new_ones(len(tokens), 1)], 1)
        # a row that has ended is fed on beside the others: its positions must stay within the model's
        last = getattr(self.model.encoder, "limit", 1 << 30) - 1
        self._positions = (self._positions[:, -1:] + 1).clamp(max=last)
        self.logits = self._run(torch.tensor(tokens, device=self.model.device).unsqueeze(1))

    @property
    def lengths(self) -> list[int]:
        """Number of tokens of each row."""
        lengths: list[int] = self._mask.sum(1).tolist()
        return lengths

    @torch.no_grad()
    def _run(self, ids: Tensor) -> Tensor:
        interrupts.check()
        with self.model.frozen():
            out: Tensor = self.model.hf(
                input_ids=ids,
                attention_mask=self._mask,
                position_ids=self._positions,
                past_key_values=self._cache,
                use_cache=True,
                logits_to_keep=1,
            ).logits[:, -1]
        found = wide(out)
        if not torch.isfinite(found).all():
            row = int((~torch.isfinite(found).all(-1)).nonzero()[0, 0])
            raise NotFiniteError(row, f"{self.model.name} returned NaN or infinity for a prompt", self.model.dtype)
        return found


def end_tokens(model: Model) -> frozenset[int]:
    """The tokens that end a text of a language model."""
    config: Any = getattr(model.hf, "generation_config", None)
    named = [getattr(config, "eos_token_id", None), model.tokenizer.eos_token_id]
    return frozenset(
        int(i) for found in named if found is not None for i in (found if isinstance(found, list) else [found])
    )


def continuation(tokenizer: Any, before: str, text: str) -> list[int]:
    """The tokens of `text` after `before`; on its own where both share a token."""
    first, both = (tokenizer(t, add_special_tokens=False, verbose=False)["input_ids"] for t in (before, before + text))
    if both[: len(first)] == first and len(both) > len(first):
        return list(both[len(first) :])
    return list(tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])
