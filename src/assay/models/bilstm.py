"""BiLSTM with attention (Jain & Wallace 2019; Madsen et al. 2022) as a transformers model.

Single: H = BiLSTM(E x); u_t = tanh(W H_t + b); alpha = softmax(v.u_t); logits = D sum_t alpha_t H_t.
Paired: q = last states of a second BiLSTM over the auxiliary text; u_t = tanh(W_p P_t + b_p + W_q q + b_q); logits =
F tanh(L_p c + L_q q). Attention covers only the primary text, without the special tokens [CLS] and [EOS].
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, mse_loss, pad
from transformers import AutoConfig, AutoModelForSequenceClassification, PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import SequenceClassifierOutput

from assay.core.errors import InputError


class BilstmAttentionConfig(PreTrainedConfig):
    """Sizes; the paper uses 300 and 128 (32 for bAbI)."""

    model_type = "bilstm_attention"

    vocab_size: int = 5
    embedding_size: int = 300
    hidden_size: int = 128  # of each direction
    num_hidden_layers: int = 1
    paired: bool = False
    tied: bool = False  # one table for both texts; the published code has two with equal initial weights
    pad_token_id: int | None = 0
    bos_token_id: int | None = 1
    eos_token_id: int | None = 2


class Words(nn.Module):
    """The look-up: (B,T) ids -> (B,T,D). The second text of a pair, after the first [EOS], may have its own table."""

    def __init__(self, config: BilstmAttentionConfig) -> None:
        super().__init__()
        self.eos = config.eos_token_id
        shape = (config.vocab_size, config.embedding_size)
        self.primary = nn.Embedding(*shape, padding_idx=config.pad_token_id)
        separate = config.paired and not config.tied
        self.auxiliary = nn.Embedding(*shape, padding_idx=config.pad_token_id) if separate else None

    @property
    def weight(self) -> Tensor:
        """(V,D) the table of the primary text."""
        return self.primary.weight

    def forward(self, ids: Tensor) -> Tensor:
        rows: Tensor = self.primary(ids)
        if self.auxiliary is None:
            return rows
        return torch.where(is_second_text(ids, self.eos).unsqueeze(-1), self.auxiliary(ids), rows)


def is_second_text(ids: Tensor, eos: int | None) -> Tensor:
    """(B,T) True after the first [EOS]: the second text. Removals keep special tokens, so this never changes."""
    ends = ids.eq(-1 if eos is None else eos).long()
    return ends.cumsum(1).sub(ends).gt(0)


class Encoder(nn.Module):
    """A bidirectional LSTM over rows of different lengths: one LSTM forwards, one over the reversed rows.

    Padding comes after the words in both, where nothing reads it. Packed sequences would give the same result in up to
    twice the time, because the fused kernels take only rectangular input.
    """

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.onward = nn.LSTM(width, hidden, batch_first=True)
        self.back = nn.LSTM(width, hidden, batch_first=True)

    def forward(self, rows: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:  # (B,T,D) -> (B,T,2h), (B,2h)
        mirror = reversed_positions(lengths, rows.shape[1])  # (B,T)
        # cuDNN has no backward pass in evaluation mode, and explanations need one
        with torch.backends.cudnn.flags(enabled=self.training and torch.backends.cudnn.enabled):
            there, _ = self.onward(rows)
            back, _ = self.back(at(rows, mirror))
        last = (lengths - 1).unsqueeze(1)
        return torch.cat([there, at(back, mirror)], -1), torch.cat([at(there, last), at(back, last)], -1).squeeze(1)


def reversed_positions(lengths: Tensor, positions: int) -> Tensor:
    """(B,T) position of each word in its reversed row, padding unchanged; its own inverse."""
    place = torch.arange(positions, device=lengths.device).expand(len(lengths), -1)
    mirror = lengths.unsqueeze(1) - 1 - place
    return torch.where(mirror < 0, place, mirror)


def at(rows: Tensor, places: Tensor) -> Tensor:
    """(B,K,D) the vectors of `rows` (B,T,D) at `places` (B,K); faster than `gather`, which moves single numbers."""
    texts, positions, width = rows.shape
    first = torch.arange(texts, device=rows.device).unsqueeze(1) * positions
    return rows.flatten(0, 1).index_select(0, (places + first).flatten()).view(*places.shape, width)


class Attention(nn.Module):
    """context = sum_t alpha_t H_t. `probabilities` and `value` are identities for hooks to attach to."""

    def __init__(self, hidden: int, *, paired: bool) -> None:
        super().__init__()
        self.query = nn.Linear(2 * hidden, hidden) if paired else None
        self.key = nn.Linear(2 * hidden, hidden)
        self.score = nn.Linear(hidden, 1, bias=False)
        self.probabilities, self.value = nn.Identity(), nn.Identity()

    def forward(self, states: Tensor, attended: Tensor, summary: Tensor | None) -> tuple[Tensor, Tensor]:
        keys = self.key(states)  # (B,T,h)
        if self.query is not None and summary is not None:
            keys = keys + self.query(summary).unsqueeze(1)
        scores = self.score(keys.tanh()).squeeze(-1)  # (B,T)
        alpha = scores.masked_fill(~attended, -torch.inf).softmax(-1)
        alpha = self.probabilities(alpha[:, None, None])  # (B,1,1,T): one head, one query
        return (alpha[:, 0] @ self.value(states)).squeeze(1), alpha  # (B,2h), (B,1,1,T)


class BilstmAttentionForSequenceClassification(PreTrainedModel):
    """The classifier. A row is [CLS] text [EOS], for a pair followed by [CLS] text_pair [EOS]."""

    config_class = BilstmAttentionConfig
    base_model_prefix = "bilstm"  # there is no such submodule: the model is its own base
    main_input_name = "input_ids"

    def __init__(self, config: BilstmAttentionConfig) -> None:
        super().__init__(config)
        h, c = config.hidden_size, config.num_labels or 2
        self.words = Words(config)
        self.encoder = Encoder(config.embedding_size, h)
        self.auxiliary = Encoder(config.embedding_size, h) if config.paired else None
        self.attention = nn.ModuleList([Attention(h, paired=config.paired)])
        self.from_context = nn.Linear(2 * h, h) if config.paired else None
        self.from_summary = nn.Linear(2 * h, h) if config.paired else None
        self.classifier = nn.Linear(h if config.paired else 2 * h, c)
        self.post_init()

    def _init_weights(self, module: Any) -> None:
        """The defaults of torch, as in the published code; PAD is zero, other words are N(0,1)."""
        loaded = all(getattr(p, "_is_hf_initialized", False) for p in module.parameters(recurse=False))
        if isinstance(module, nn.Embedding | nn.Linear | nn.LSTM) and not loaded:  # or PAD becomes zero again
            module.reset_parameters()

    def get_input_embeddings(self) -> Any:
        return self.words

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        labels: Tensor | None = None,
        *,
        output_attentions: bool = False,
        **kwargs: Any,
    ) -> SequenceClassifierOutput:
        mask = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        rows = self.words(input_ids)  # (B,T,D)
        run = self._single if self.auxiliary is None else self._paired
        logits, alpha = run(input_ids, mask, rows)
        loss: Any = None if labels is None else _loss(logits, labels)
        seen: Any = (alpha,) if output_attentions else None
        return SequenceClassifierOutput(loss=loss, logits=logits, attentions=seen)  # type: ignore[arg-type]

    def _single(self, ids: Tensor, mask: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
        states, _ = self.encoder(rows, mask.sum(1))
        context, alpha = self.attention[0](states, self._attended(ids, mask > 0), None)
        return self.classifier(context), alpha

    def _paired(self, ids: Tensor, mask: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
        second = is_second_text(ids, self.config.eos_token_id) & (mask > 0)
        first = ~second & (mask > 0)
        lengths, others = first.sum(1), second.sum(1)
        if not others.all() or self.auxiliary is None or self.from_context is None or self.from_summary is None:
            raise InputError("this BiLSTM was trained on pairs; give (text, text_pair)")
        place = lengths[:, None] + torch.arange(int(others.max()), device=ids.device)
        _, summary = self.auxiliary(at(rows, place.clamp(max=ids.shape[1] - 1)), others)
        longest = int(lengths.max())
        states, _ = self.encoder(rows[:, :longest], lengths)
        states = pad(states, (0, 0, 0, ids.shape[1] - longest))  # the second text gets no attention
        context, alpha = self.attention[0](states, self._attended(ids, first), summary)
        return self.classifier((self.from_context(context) + self.from_summary(summary)).tanh()), alpha

    def _attended(self, ids: Tensor, first: Tensor) -> Tensor:
        """(B,T) positions without [CLS] and [EOS]; all positions if no word is left."""
        words = first & (ids != self.config.bos_token_id) & (ids != self.config.eos_token_id)
        return torch.where(words.any(1, keepdim=True), words, first)


def _loss(logits: Tensor, labels: Tensor) -> Tensor:
    return mse_loss(logits.squeeze(-1), labels) if logits.shape[-1] == 1 else cross_entropy(logits, labels)


AutoConfig.register(BilstmAttentionConfig.model_type, BilstmAttentionConfig, exist_ok=True)
AutoModelForSequenceClassification.register(
    BilstmAttentionConfig, BilstmAttentionForSequenceClassification, exist_ok=True
)
