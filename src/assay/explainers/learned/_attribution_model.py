"""The attribution model G: reads an input and a class, and gives each position a number."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from assay.core.errors import UnsupportedError
from assay.models import hooks
from assay.models.encoding import Batch
from assay.models.model import Model


class AttributionModel(Protocol):
    """A module with an output (B,T) for each position, given a mixture of classes (B,C) to explain."""

    def __call__(self, model: Model, batch: Batch, classes: Tensor) -> tuple[Tensor, Tensor | None]:
        """Outputs (B,T), and the logits (B,C) of the explained model if they were computed on the way."""


class Trunk(nn.Module):
    """A head on the explained model's own hidden states; costs little more than the prediction.

    h = sum_l softmax(m)_l norm(h_l) over all layers; output = w . tanh((1 + A q) * W h + B q), q the mixture of
    classes.
    """

    def __init__(self, layers: int, width: int, classes: int) -> None:
        super().__init__()
        self.mix = nn.Parameter(torch.zeros(layers))
        self.inner = nn.Linear(width, width)
        self.scale = nn.Linear(classes, width, bias=False)
        self.shift = nn.Linear(classes, width)
        self.outer = nn.Linear(width, 1)
        nn.init.zeros_(self.scale.weight)
        for layer in (self.shift, self.outer):
            nn.init.normal_(layer.weight, std=0.02)
            nn.init.zeros_(layer.bias)

    def forward(self, model: Model, batch: Batch, classes: Tensor) -> tuple[Tensor, Tensor | None]:
        logits, states = model.states(batch)
        return self.head(states.to(self.outer.weight), classes), logits

    def head(self, states: Tensor, classes: Tensor) -> Tensor:
        """(B,T) from the hidden states (B,L,T,D)."""
        share = self.mix.softmax(0).view(-1, 1, 1)
        mixed = (nn.functional.layer_norm(states, states.shape[-1:]) * share).sum(1)  # (B,T,D)
        q = classes.to(mixed)
        inner = self.inner(mixed) * (1 + self.scale(q)).unsqueeze(1) + self.shift(q).unsqueeze(1)
        out: Tensor = self.outer(inner.tanh()).squeeze(-1)
        return out


@dataclass(frozen=True)
class LastStates:
    """A read-out that returns the last hidden states (B,T,D) of the encoder."""

    head: ClassVar[None] = None
    reads_mean: ClassVar[bool] = False

    def __call__(self, hf: PreTrainedModel, inputs: dict[str, Tensor], batch: Batch) -> Tensor:
        states: Tensor = hf(**inputs).last_hidden_state
        return states


class LabelledEncoder(nn.Module):
    """An encoder of its own with the classes as one more token, as in the paper.

    The vector z = z_0 + sum_j q_j z_j of the class mixture q stands after the last token of each input and is not
    scored; every other position gets w . tanh(W h).
    """

    def __init__(self, reader: Model, classes: int) -> None:
        super().__init__()
        if reader.family.causal or reader.family.images or reader.family.recurrent:
            raise UnsupportedError(
                f"{reader.name} ({reader.family.name}) cannot be the attribution model, which must read texts in both "
                "directions; use a BERT-like encoder, or architecture=trunk"
            )
        self.encoder = copy.deepcopy(reader.hf.base_model)
        self.reader = replace(reader, hf=self.encoder, readout=LastStates())
        width = int(self.encoder.config.hidden_size)
        self.labels = nn.Linear(classes, width)
        self.inner = nn.Linear(width, width)
        self.outer = nn.Linear(width, 1)
        for layer in (self.labels, self.inner, self.outer):
            nn.init.normal_(layer.weight, std=0.02)
            nn.init.zeros_(layer.bias)

    def forward(self, model: Model, batch: Batch, classes: Tensor) -> tuple[Tensor, Tensor | None]:
        lookup = hooks.word_module(self.encoder, self.reader.family)
        z = self.labels(classes.to(self.outer.weight))
        longer, embeddings = self._with_label(batch, lookup(batch.ids), z)
        with hooks.word_embeddings(self.encoder, self.reader.family, embeddings):
            states = self.reader.outputs(longer)
        out: Tensor = self.outer(self.inner(states).tanh()).squeeze(-1)
        return out[:, : batch.ids.shape[1]], None

    def _with_label(self, batch: Batch, embeddings: Tensor, z: Tensor) -> tuple[Batch, Tensor]:
        """The batch with one more position per input, whose embedding is z.

        An input that fills the model gives up its last special token for it.
        """
        rows = torch.arange(len(batch), device=batch.ids.device)
        used = batch.mask.sum(1)
        place = used.clamp(max=self._limit - 1)
        grown = min(batch.ids.shape[1] + 1, self._limit)

        def longer(tensor: Tensor, at: Tensor | int) -> Tensor:
            wide = nn.functional.pad(tensor, (0, max(0, grown - tensor.shape[1])))
            return wide.index_put((rows, place), torch.as_tensor(at, device=wide.device).to(wide))

        last = (rows, place - 1)
        out = replace(
            batch,
            ids=longer(batch.ids, self.reader.pad_id),
            mask=longer(batch.mask, 1),
            types=longer(batch.types, batch.types[last]),
            positions=longer(batch.positions, batch.positions[last] + 1),
            unit_of=None,
        )
        more = max(0, grown - embeddings.shape[1])
        wide = torch.cat([embeddings, embeddings.new_zeros(len(batch), more, embeddings.shape[-1])], 1)
        return out, wide.index_put((rows, place), z.to(wide))

    @property
    def _limit(self) -> int:
        """Positions of the encoder; families without position embeddings have no limit."""
        config: Any = self.encoder.config
        most = getattr(config, "max_position_embeddings", None) or 1 << 30
        offset = 2 if self.reader.family.positions == "after_pad" else 0  # RoBERTa counts from the pad id
        return int(most) - offset
