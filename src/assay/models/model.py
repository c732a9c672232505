"""Model: one interface to all families: encoding, logits, gradients, soft masks, attention, traces."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from assay.core import interrupts
from assay.core.errors import ModelError, RowError
from assay.core.rng import seed_of
from assay.core.types import Example, Scale, Target
from assay.models import attention_hooks, hooks
from assay.models.batches import default_budget
from assay.models.encode import ImageEncoder, TextEncoder
from assay.models.encoding import Batch, Encoding, Rows, collate
from assay.models.exclusive import exclusive
from assay.models.families import Family
from assay.models.head_logits import HeadLogits
from assay.models.identity import config_hash, processor_hash, tokenizer_hash
from assay.models.readout import LabelWords, Readout
from assay.models.target import Targets
from assay.models.trace import Trace
from assay.models.trace_recorder import Recorder


@dataclass
class Passes:
    """Number of sequences run through the model so far."""

    forwards: int = 0
    backwards: int = 0


class Gradient(NamedTuple):
    """The gradient of a batch's values; all parts carry a graph only if second derivatives were wanted."""

    gradient: Tensor  # (B,T,D) with respect to the word embeddings
    values: Tensor  # (B,)
    embeddings: Tensor  # (B,T,D)
    logits: Tensor  # (B,C)


@dataclass(eq=False)
class Model:
    """A transformers model, its tokenizer or processor, and its read-out. The wrapped model is never modified."""

    name: str
    hf: PreTrainedModel
    family: Family
    encoder: TextEncoder | ImageEncoder
    readout: Readout
    labels: tuple[str, ...]
    task: str  # classification, multi_label or regression
    tokenizer: Any = None
    passes: Passes = field(default_factory=Passes)
    known_fingerprint: str | None = None  # of a model that was loaded without its weights
    _fingerprint: str | None = field(default=None, init=False)
    _frozen: int = field(default=0, init=False)

    def __repr__(self) -> str:
        return f"Model({self.name!r}, family={self.family.name!r}, task={self.task!r}, labels={list(self.labels)})"

    @property
    def title(self) -> str:
        """Name for display: the last part of a folder's path; a hub id as it is."""
        return self.name.rstrip("/").rpartition("/")[2] if self.name.startswith(("/", ".", "~")) else self.name

    @property
    def reading(self) -> str:
        """What the answers of a function are taken for; empty for a transformers model, whose logits are its own."""
        return ""

    @property
    def device(self) -> torch.device:
        return self.hf.device

    @property
    def dtype(self) -> torch.dtype:
        return self.hf.dtype

    @property
    def budget(self) -> int:
        """Positions per forward pass, unless the caller sets another number."""
        return default_budget(self.device)

    @property
    def pad_id(self) -> int:
        """Id that pads a batch; attention ignores it, so any id works."""
        token = getattr(self.tokenizer, "pad_token_id", None)
        return 0 if token is None else int(token)

    @property
    def head(self) -> nn.Module | None:
        """A head of Assay's on top of the transformers model, or None."""
        return self.readout.head

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the weights, by which records identify the model. Computed once; see `weights_changed`."""
        if self.known_fingerprint is not None:
            return self.known_fingerprint
        if self._fingerprint is None:
            with exclusive(self.hf):  # another thread may have replaced weights for a moment
                self._fingerprint = self._hash()
        return self._fingerprint

    def _hash(self) -> str:
        head = {} if self.head is None else self.head.state_dict()
        weights: dict[str, Tensor] = {**self.hf.state_dict(), **{f"head.{k}": v for k, v in head.items()}}
        digest = hashlib.sha256()
        for name, tensor in sorted(weights.items()):
            if ".original_module." in name:  # of PEFT: the head before training, which nothing reads
                continue
            digest.update(name.encode() + str(tensor.dtype).encode() + str(tuple(tensor.shape)).encode())
            digest.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
        return digest.hexdigest()

    def weights_changed(self) -> None:
        """Forget what was computed from the weights; call this after changing them in place."""
        self._fingerprint = None
        self._forget_outputs()

    @property
    def identity(self) -> dict[str, Any]:
        """Everything about the model that can change a result, for the keys of records."""
        text = self.encoder if isinstance(self.encoder, TextEncoder) else None
        prompt = None if text is None else text.prompt
        return {
            "model": self.fingerprint,
            "config": config_hash(self.hf.config),
            "reader": _reader_hash(self.encoder),
            "labels": list(self.labels),
            "task": self.task,
            "prompt": None if prompt is None else repr(prompt),
            "max_length": None if text is None else text.limit,
        }

    @property
    def prompted(self) -> bool:
        """Whether it reads its input inside a prompt."""
        return isinstance(self.encoder, TextEncoder) and self.encoder.prompt is not None

    def limited(self, positions: int) -> Model:
        """The same model, with texts truncated to a number of positions; images are not affected."""
        if not isinstance(positions, int) or isinstance(positions, bool) or positions < 4:
            raise ModelError(f"max_length={positions!r} is not allowed; give at least 4, a whole number")
        if not isinstance(self.encoder, TextEncoder):
            return self
        return replace(self, encoder=replace(self.encoder, limit=min(self.encoder.limit, positions)))

    # --- encoding --------------------------------------------------------------------------------------------------

    def encode(self, example: Example) -> Encoding:
        """An example as positions, each with the characters or patch it came from."""
        with exclusive(self.hf):  # a fast tokenizer cannot be shared by threads
            return self.encoder(example)

    def batch(self, rows: Sequence[Rows | Encoding]) -> Batch:
        """Tensors of encoded examples, or of variants of them."""
        return collate([r.rows() if isinstance(r, Encoding) else r for r in rows], self.pad_id, self.device, self.dtype)

    def predict(self, inputs: Any, *, batch_tokens: int | None = None) -> Any:
        """Labels and probabilities; a Prediction for one input, Predictions (a list) for several.

        inputs: what `assay.explain` takes. batch_tokens: maximum number of positions per forward pass.
        """
        from assay.models.prediction import predict

        return predict(self, inputs, batch_tokens)

    def targets(self, requested: Sequence[Target], scale: Scale) -> Targets:
        """Targets with a method's scale where the caller named none.

        A label word is one of a whole vocabulary: its logit alone says nothing about the other labels and rises and
        falls with them, so the default is its log odds against them.
        """
        if scale == "logit" and isinstance(self.readout, LabelWords):
            requested = [replace(t, scale="log_odds") if t.scale is t.against is None else t for t in requested]
        return Targets(tuple(requested), scale, self.task == "multi_label")

    # --- forward and backward passes -------------------------------------------------------------------------------

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Evaluation mode without parameter gradients, for one thread at a time; nesting costs nothing."""
        parts = [self.hf] if self.head is None else [self.hf, self.head]
        with exclusive(self.hf), nullcontext() if self._frozen else hooks.frozen(*parts):
            self._frozen += 1
            try:
                yield
            finally:
                self._frozen -= 1
                if not self._frozen:
                    self._forget_outputs()  # the weights may change before the next call

    def embeddings(self, batch: Batch) -> Tensor:
        """(B,T,D) word embeddings before position embeddings; zeros for a class token, which has no look-up."""
        if batch.embeddings is not None:
            return batch.embeddings
        lookup = hooks.word_module(self.hf, self.family)
        with self.frozen():
            rows: Tensor = lookup(batch.ids if batch.pixels is None else batch.pixels)
        lead = self.family.lead
        return torch.cat([rows.new_zeros(len(rows), lead, rows.shape[-1]), rows], 1) if lead else rows

    def logits(self, batch: Batch) -> Tensor:
        """(B,C) class outputs in float32 or wider; differentiable in the batch's embeddings, if it has any."""
        interrupts.check()
        embeddings = batch.embeddings
        if batch.weights is not None:
            embeddings = self.embeddings(batch) * batch.weights.unsqueeze(-1)
            batch = replace(batch, embeddings=embeddings)
        with self.frozen(), self._replaced(embeddings):
            logits = wide(self.outputs(batch))
        self.passes.forwards += len(batch)
        if not torch.isfinite(logits).all():
            row = int((~torch.isfinite(logits).all(-1)).nonzero()[0, 0])
            raise NotFiniteError(row, f"{self.name} returned {logits[row].tolist()} for an input", self.dtype)
        return logits

    def outputs(self, batch: Batch) -> Tensor:
        """(B,C) class outputs in the model's current mode and precision; for training. Elsewhere use `logits`."""
        return self.readout(self.hf, self._inputs(batch), batch)

    def _replaced(self, embeddings: Tensor | None) -> Any:
        if embeddings is None:
            return nullcontext()
        return hooks.word_embeddings(self.hf, self.family, embeddings)

    def _inputs(self, batch: Batch) -> dict[str, Tensor]:
        if batch.pixels is not None:
            return {"pixel_values": batch.pixels}
        inputs = {"input_ids": batch.ids, "attention_mask": batch.mask}
        if "token_type_ids" in self._arguments:
            inputs["token_type_ids"] = batch.types
        if self.family.positions != "none" and "position_ids" in self._arguments:
            inputs["position_ids"] = batch.positions
        return inputs

    @cached_property
    def _arguments(self) -> frozenset[str]:
        names = getattr(self.tokenizer, "model_input_names", [])
        wanted = {"position_ids"} | ({"token_type_ids"} if "token_type_ids" in names else set())
        return frozenset(name for name in wanted if hooks.accepts(self.hf, name))

    def gradients(self, batch: Batch, targets: Targets, *, whole: bool = False) -> Gradient:
        """Values and their gradients with respect to the word embeddings.

        `whole`: the batch holds the whole inputs, so its logits may resolve the targets. Second derivatives are kept
        if the batch's own embeddings require a gradient (attacks).
        """
        embeddings = self.embeddings(batch)
        second = embeddings.requires_grad
        with torch.enable_grad(), self.frozen(), hooks.twice_differentiable() if second else nullcontext():
            embeddings = embeddings if second else embeddings.detach().requires_grad_()
            logits = self.logits(replace(batch, embeddings=embeddings))
            values = (targets.resolve(logits) if whole else targets).values(logits)
            (gradient,) = torch.autograd.grad(values.sum(), embeddings, create_graph=second)
        self.passes.backwards += len(batch)
        outputs = (values, embeddings, logits) if second else (t.detach() for t in (values, embeddings, logits))
        return Gradient(gradient, *outputs)

    def blend(self, batch: Batch, weights: Tensor, reference: Tensor) -> Tensor:
        """Logits of soft-masked inputs: embeddings w e + (1-w) reference, weights w (B,T).

        Differentiable in the weights; weights of 0 and 1 equal the hard removal. `reference` comes from a removal
        (`Removal.reference`), which leaves special tokens intact; so does a prompt, whose prefix is read once.
        """
        w = weights.unsqueeze(-1)
        mixed = replace(batch, embeddings=w * self.embeddings(batch) + (1 - w) * reference, keeps_prefix=True)
        with self.frozen():
            if isinstance(self.readout, LabelWords):
                self.readout.read_prefix(self.hf, batch)
            return self.logits(mixed)

    def tapped(self, batch: Batch, tap: attention_hooks.Tap) -> Tensor:
        """Logits, while `tap` reads (and may replace) attention probabilities and values in every layer."""
        with self.frozen(), attention_hooks.attention(self.hf, self.family, tap):
            return self.logits(batch)

    def head_logits(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Logits (B,C), and the attention logits (B,L*H,T) of every head, before the mask, averaged over queries."""
        reader = HeadLogits(batch.mask)
        if isinstance(self.readout, LabelWords):  # run the whole prompt: a cached prefix has no queries
            batch = replace(batch, embeddings=self.embeddings(batch))
        with self.frozen(), attention_hooks.reading(self.hf, self.family, reader):
            logits = self.logits(batch)
        return logits, reader.heads

    @torch.no_grad()
    def states(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Logits (B,C), and the states (B,L+1,T,D) before the first block and after each block."""
        hooks.need_blocks(self.hf, self.family)
        if isinstance(self.readout, LabelWords):  # run the whole prompt: a cached prefix has no states
            batch = replace(batch, embeddings=self.embeddings(batch))
        with self.frozen(), hooks.block_states(self.hf) as layers:
            logits = self.logits(batch)
        return logits, torch.stack(layers, 1)

    @torch.no_grad()
    def highest_states(self, batch: Batch) -> Tensor:
        """(B,L,D) the maximum over positions of each dimension of the hidden states, per layer."""
        with self.frozen(), hooks.highest_states(self.hf, self.family, batch.mask) as layers:
            self.logits(batch)
        return torch.stack(layers, 1)

    def trace(self, batch: Batch) -> Trace:
        """One forward pass as data: hidden states, attention, norms, activations and weights."""
        hooks.need_blocks(self.hf, self.family)
        if batch.embeddings is not None:
            batch = replace(batch, embeddings=batch.embeddings.detach())
        # gradients are enabled for the derivatives of activations only; no graph is kept
        with torch.enable_grad(), self.frozen(), Recorder(self.hf, self.head).watching() as recorder:
            logits = self.tapped(batch, recorder)
        with torch.no_grad():
            return recorder.trace(self.family, self.readout, batch, logits)

    def full_logits(self, batch: Batch) -> Tensor:
        """Logits of whole inputs, with a graph only if the batch's embeddings have one."""
        with torch.set_grad_enabled(batch.embeddings is not None and batch.embeddings.requires_grad):
            return self.logits(batch)

    # --- replacing weights -----------------------------------------------------------------------------------------

    @property
    def n_blocks(self) -> int:
        return len(hooks.blocks(self.hf))

    @property
    def n_heads(self) -> int:
        """Number of attention heads of all blocks."""
        return self.n_blocks * hooks.heads_per_block(self.hf)

    def reinitialised(self, block: int, seed: int, *, shared_parameters: bool = True) -> dict[str, Tensor]:
        """A block's parameters re-initialised as its architecture does, seeded by (model, block, seed).

        `shared_parameters` False leaves out those that the first block shares with all others (T5's position bias).
        """
        parameters = hooks.reinitialised(self.hf, block, seed_of(self.fingerprint, block, seed))
        return {
            name: tensor
            for name, tensor in parameters.items()
            if shared_parameters or name not in self.family.shared_parameters
        }

    @contextmanager
    def with_blocks(self, weights: hooks.Weights) -> Iterator[None]:
        """Replace the weights of some blocks inside the context; embeddings and head stay the same."""
        _ = self.fingerprint  # computed now: it identifies the original weights
        with exclusive(self.hf), hooks.block_weights(self.hf, weights):
            self._forget_outputs()
            try:
                yield
            finally:
                self._forget_outputs()

    def _forget_outputs(self) -> None:
        """Drop cached outputs of weights that may have changed."""
        if isinstance(self.readout, LabelWords):
            self.readout.cache.clear()


def _reader_hash(encoder: TextEncoder | ImageEncoder) -> str:
    return tokenizer_hash(encoder.tokenizer) if isinstance(encoder, TextEncoder) else processor_hash(encoder.processor)


def wide(tensor: Tensor) -> Tensor:
    """At least float32: sums are never taken in half precision."""
    return tensor if tensor.dtype == torch.float64 else tensor.float()


class NotFiniteError(RowError):
    """NaN or infinity in the logits of row `row` of a batch."""

    def __init__(self, row: int, message: str, dtype: torch.dtype) -> None:
        hint = "load it with dtype='float32'" if dtype in (torch.float16, torch.bfloat16) else "check its weights"
        super().__init__(row, f"{message}, so scores would be meaningless; {hint}")
