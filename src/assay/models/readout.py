"""From a transformer to class outputs (B,C): its own head, its last token, a head of Assay's, or label words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol

import torch
from torch import Tensor, nn
from transformers import DynamicCache, PreTrainedModel

from assay.models.encoding import Batch

LEAST_PREFIX = 8  # positions; a shorter prefix is not worth a pass of its own


class Readout(Protocol):
    """Runs the transformer on `inputs` and returns (B,C). The position it reads comes from the batch, not from ids."""

    @property
    def head(self) -> nn.Module | None:
        """A head of Assay's, which is not part of the transformers model; None if it has none."""

    @property
    def reads_mean(self) -> bool:
        """Whether the head reads the mean over positions instead of one position."""

    def __call__(self, hf: PreTrainedModel, inputs: dict[str, Tensor], batch: Batch) -> Tensor: ...


@dataclass(frozen=True)
class StockHead:
    """The classifier as transformers runs it: it reads the first position or pools patches."""

    head: ClassVar[None] = None
    reads_mean: ClassVar[bool] = False

    def __call__(self, hf: PreTrainedModel, inputs: dict[str, Tensor], batch: Batch) -> Tensor:
        logits: Tensor = hf(**inputs).logits
        return logits


@dataclass(frozen=True)
class LastToken:
    """The classifier of a causal model at a fixed position.

    transformers looks for the last id that is not the pad id, so replacing a token by a pad token (GPT-2: the
    end-of-text token) would move the read-out.
    """

    head: ClassVar[None] = None
    reads_mean: ClassVar[bool] = False

    def __call__(self, hf: PreTrainedModel, inputs: dict[str, Tensor], batch: Batch) -> Tensor:
        hidden = hf.base_model(**inputs, use_cache=False).last_hidden_state  # (B,T,D)
        logits: Tensor = hf.get_submodule("score")(
            hidden[torch.arange(len(batch), device=hidden.device), batch.readout]
        )
        return logits


@dataclass(frozen=True)
class AssayHead:
    """A head from models/heads on the hidden states of an encoder."""

    head: nn.Module
    reads_mean: ClassVar[bool] = True

    def __call__(self, hf: PreTrainedModel, inputs: dict[str, Tensor], batch: Batch) -> Tensor:
        every = bool(self.head.all_layers)
        out = hf(**inputs, output_hidden_states=every)
        logits: Tensor = self.head(out.hidden_states if every else out.last_hidden_state, batch.mask)
        return logits


@dataclass(frozen=True)
class LabelWords:
    """Next-token logits of the label words at the end of a prompt; the prompt's constant prefix is computed once."""

    tokens: Sequence[int]
    head: ClassVar[None] = None
    reads_mean: ClassVar[bool] = False
    cache: dict[tuple[int, ...], Any] = field(default_factory=dict)

    def __call__(self, hf: PreTrainedModel, inputs: dict[str, Tensor], batch: Batch) -> Tensor:
        skipped = self._skipped(hf, batch)
        past = self._past(hf, batch.ids[0, :skipped], len(batch)) if skipped else None
        ends, which = batch.readout.sub(skipped).unique(return_inverse=True)
        out = hf(
            input_ids=inputs["input_ids"][:, skipped:],
            attention_mask=inputs["attention_mask"],
            position_ids=batch.positions[:, skipped:],
            past_key_values=past,
            use_cache=past is not None,
            logits_to_keep=ends,
        ).logits  # (B, distinct ends, V)
        logits: Tensor = out[torch.arange(len(batch), device=out.device), which][:, list(self.tokens)]
        return logits

    @torch.no_grad()
    def read_prefix(self, hf: PreTrainedModel, batch: Batch) -> None:
        """Read the prefix of a batch whose embeddings will be replaced behind it."""
        if skipped := self._skipped(hf, replace(batch, keeps_prefix=True)):
            self._past(hf, batch.ids[0, :skipped], 1)

    def _skipped(self, hf: PreTrainedModel, batch: Batch) -> int:
        """The number of positions that are read once for all rows.

        Taps, gradients of all embeddings and embeddings that are replaced everywhere need the whole prompt.
        """
        plain = batch.embeddings is None and not torch.is_grad_enabled()
        if batch.weights is not None or _tapped(hf) or not (plain or batch.keeps_prefix):
            return 0
        shared = _shared(batch)
        return shared if shared >= LEAST_PREFIX else 0

    def _past(self, hf: PreTrainedModel, ids: Tensor, times: int) -> DynamicCache:
        key = tuple(ids.tolist())
        if key not in self.cache:
            self.cache.clear()  # one prompt at a time
            cache: Any = DynamicCache()  # the model's own cache would drop what lies outside a sliding window
            hf(input_ids=ids[None], past_key_values=cache, use_cache=True, logits_to_keep=1)
            self.cache[key] = [(layer.keys, layer.values) for layer in cache.layers]
        past = DynamicCache()
        for i, (keys, values) in enumerate(self.cache[key]):
            past.update(keys.expand(times, -1, -1, -1), values.expand(times, -1, -1, -1), i)
        return past


def _shared(batch: Batch) -> int:
    """Number of leading prefix positions that are equal in all rows, always before the read-out position."""
    same = (batch.ids[:, : batch.prefix] == batch.ids[:1, : batch.prefix]).all(0)
    return min(int(same.long().cumprod(0).sum()), int(batch.readout.min()))


def _tapped(hf: PreTrainedModel) -> bool:
    return str(hf.config._attn_implementation).startswith("assay")
