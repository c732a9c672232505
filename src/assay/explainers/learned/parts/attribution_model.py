"""The attribution model G: reads an input and a class, and gives each position a number."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from assay.core.errors import InputError, UnsupportedError
from assay.explainers.learned.parts.alignment import alignment, carried_over
from assay.explainers.learned.parts.block import Block
from assay.explainers.learned.parts.forms import Join, Layers
from assay.models import hooks
from assay.models.encode import TextEncoder
from assay.models.encoding import Batch
from assay.models.identity import tokenizer_hash
from assay.models.model import Model

WIDTH = 192  # of the head of a trunk
NO_TEXT = "an attribution model with an encoder of its own reads texts; use architecture=trunk for images"


class Reading(NamedTuple):
    """What one pass of the explained model gives: its logits (B,C), and states (B,L,T,D) for a trunk."""

    logits: Tensor
    states: Tensor | None = None


class Trunk(nn.Module):
    """A head on the explained model's own hidden states; costs little more than the prediction.

    x = (1 + A q) * W sum_l m_l * norm(h_l) + B q over all layers l, or the last one, with q the mixture of classes; a
    small transformer block lets the positions learn of each other; output = w . norm(block(x)).
    """

    def __init__(self, layers: int, width: int, classes: int, use: Layers = "all") -> None:
        super().__init__()
        self.use = use
        self.layers = layers if use == "all" else 1
        self.mix = nn.Parameter(torch.full((self.layers, width), 1 / self.layers))
        self.inner = nn.Linear(width, WIDTH)
        self.scale = nn.Linear(classes, WIDTH, bias=False)
        self.shift = nn.Linear(classes, WIDTH)
        self.block = Block(WIDTH)
        self.norm = nn.LayerNorm(WIDTH)
        self.outer = nn.Linear(WIDTH, 1)
        nn.init.zeros_(self.scale.weight)
        nn.init.normal_(self.outer.weight, std=0.02)
        nn.init.zeros_(self.outer.bias)

    def read(self, model: Model, batch: Batch, logits: Tensor | None = None) -> Reading:
        """The logits and hidden states of the explained model, in one pass."""
        found, states = model.states(batch)
        return Reading(found, states if self.use == "all" else states[:, -1:])

    def forward(self, model: Model, batch: Batch, reading: Reading, classes: Tensor) -> Tensor:
        """(B,T) outputs for the mixture of classes (B,C)."""
        assert reading.states is not None
        states = reading.states.to(self.outer.weight)
        size = states.shape[
            -1:
        ]  # a norm with the mix as its weight, layer by layer, is four times as fast as an einsum
        mixed = torch.zeros_like(states[:, 0])
        for layer, weight in enumerate(self.mix):
            mixed = mixed + nn.functional.layer_norm(states[:, layer], size, weight)
        q = (2 * classes.to(mixed) - 1).unsqueeze(1)  # (B,1,C)
        x = self.inner(mixed) * (1 + self.scale(q)) + self.shift(q)
        out: Tensor = self.outer(self.norm(self.block(x, batch.mask > 0))).squeeze(-1)
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
    scored; every other position gets w . tanh(W h). If the encoder has another tokenizer than the explained model, its
    outputs go to the tokens of that model by the characters they share.
    """

    def __init__(self, reader: Model, classes: int, *, frozen_embeddings: bool = True, join: Join = "max") -> None:
        super().__init__()
        check_reader(reader)
        self.join = join
        encoder: Any = copy.deepcopy(reader.hf.base_model).float()
        if getattr(encoder, "pooler", None) is not None:
            encoder.pooler = None  # unused, and not in every checkpoint
        self.encoder: PreTrainedModel = encoder
        self.reader = replace(reader, hf=encoder, readout=LastStates())
        width = int(encoder.config.hidden_size)
        self.labels = nn.Linear(classes, width)
        self.inner = nn.Linear(width, width)
        self.outer = nn.Linear(width, 1)
        for layer in (self.labels, self.inner, self.outer):
            nn.init.normal_(layer.weight, std=0.02)
            nn.init.zeros_(layer.bias)
        self.learn(frozen_embeddings=frozen_embeddings)

    def learn(self, *, frozen_embeddings: bool) -> None:
        """Say which weights a fit may change."""
        self.requires_grad_(True)
        if frozen_embeddings:
            _embedding_module(self.encoder, self.reader).requires_grad_(False)

    def read(self, model: Model, batch: Batch, logits: Tensor | None = None) -> Reading:
        return Reading(model.full_logits(batch) if logits is None else logits)

    def forward(self, model: Model, batch: Batch, reading: Reading, classes: Tensor) -> Tensor:
        """(B,T) outputs for the mixture of classes (B,C)."""
        if model.family.images:
            raise UnsupportedError(NO_TEXT)
        z = self.labels(classes.to(self.outer.weight))
        if self._shares_tokens(model):
            return self._scores(batch, z)
        encodings = [self._encode(e.example, i) for i, e in enumerate(batch.encodings)]
        scores = self._scores(self.reader.batch(encodings), z)
        lists = [
            alignment(ours.spans, theirs.spans, whole=not theirs.unseen)
            for ours, theirs in zip(batch.encodings, encodings, strict=True)
        ]
        return carried_over(scores, lists, batch.ids.shape[1], self.join)

    def _encode(self, example: Any, index: int) -> Any:
        try:
            return self.reader.encode(example)
        except InputError as error:
            raise InputError(f"the attribution model cannot read it: {error.message}", index) from error

    def _shares_tokens(self, model: Model) -> bool:
        """Whether the positions of the explained model are also those of the encoder."""
        if not isinstance(model.encoder, TextEncoder) or model.encoder.prompt is not None:
            return False
        same = model.family.name == self.reader.family.name
        return same and _rules(model.tokenizer) == _rules(self.reader.tokenizer) and self.reader.pad_id == model.pad_id

    def _scores(self, batch: Batch, z: Tensor) -> Tensor:
        """(B,T) the outputs of the encoder with z (B,D) after each input."""
        lookup = hooks.word_module(self.encoder, self.reader.family)
        longer, embeddings = self._with_label(batch, lookup(batch.ids), z)
        with hooks.word_embeddings(self.encoder, self.reader.family, embeddings):
            states = self.reader.outputs(longer)
        out: Tensor = self.outer(self.inner(states).tanh()).squeeze(-1)
        return nn.functional.pad(out, (0, 1))[:, : batch.ids.shape[1]]  # the label may have taken the last place

    def _with_label(self, batch: Batch, embeddings: Tensor, z: Tensor) -> tuple[Batch, Tensor]:
        """The batch with one more position per input, whose embedding is z.

        An input that fills the model gives up its last special token for it.
        """
        rows = torch.arange(len(batch), device=batch.ids.device)
        place = batch.mask.sum(1).clamp(max=self._limit - 1)
        more = max(0, min(batch.ids.shape[1] + 1, self._limit) - batch.ids.shape[1])

        def longer(tensor: Tensor, at: Tensor | int) -> Tensor:
            wide = nn.functional.pad(tensor, (0, more))
            return wide.index_put((rows, place), torch.as_tensor(at, device=wide.device).to(wide))

        last = (rows, place - 1)
        out = replace(
            batch,
            ids=longer(batch.ids, self.reader.pad_id),
            mask=longer(batch.mask, 1),
            types=longer(batch.types, batch.types[last]),
            positions=longer(batch.positions, batch.positions[last] + 1),
            unit_of=None,
            encodings=(),
        )
        wide = torch.cat([embeddings, embeddings.new_zeros(len(batch), more, embeddings.shape[-1])], 1)
        return out, wide.index_put((rows, place), z.to(wide))

    @property
    def _limit(self) -> int:
        """Positions of the encoder; families without position embeddings have no limit."""
        config: Any = self.encoder.config
        most = getattr(config, "max_position_embeddings", None) or 1 << 30
        offset = 2 if self.reader.family.positions == "after_pad" else 0  # RoBERTa counts from the pad id
        return int(most) - offset


class Attributor(nn.Module):
    """An attribution model, with how its outputs become a mask where it was fitted for both objectives."""

    def __init__(self, model: Trunk | LabelledEncoder) -> None:
        super().__init__()
        self.model = model
        self.gain = nn.Parameter(torch.tensor(4.0))
        self.offset = nn.Parameter(torch.tensor(0.0))
        self.reference: nn.Parameter | None
        self.register_parameter("reference", None)  # (D,) what masks blend with, where that is learnt too

    def read(self, model: Model, batch: Batch, logits: Tensor | None = None) -> Reading:
        return self.model.read(model, batch, logits)

    def forward(self, model: Model, batch: Batch, reading: Reading, classes: Tensor) -> Tensor:
        out: Tensor = self.model(model, batch, reading, classes)
        return out


def check_reader(reader: Model) -> None:
    """Raise unless a model can be the attribution model's encoder."""
    family = reader.family
    if family.opaque or family.causal or family.images or family.recurrent or reader.hf.config.is_encoder_decoder:
        raise UnsupportedError(
            f"{reader.name} ({family.name}) cannot be the attribution model, which must read texts in both "
            "directions; give base= a BERT-like encoder, or use architecture=trunk"
        )


def _embedding_module(encoder: PreTrainedModel, reader: Model) -> nn.Module:
    """All embeddings of an encoder (word, position, type, norm); the word look-up where they are not one module."""
    module = getattr(encoder, "embeddings", None)
    return module if isinstance(module, nn.Module) else hooks.word_module(encoder, reader.family)


@lru_cache(maxsize=8)
def _rules(tokenizer: Any) -> str:
    return tokenizer_hash(tokenizer)
