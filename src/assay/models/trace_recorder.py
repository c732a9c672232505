"""Record a forward pass as a Trace: hooks on linear layers and norms, whose order reveals the structure.

No family is named here. The order of its layers tells whether a block is pre-norm or post-norm; the value projection is
the layer whose output attention received; a gate is a second layer before the last. The result is verified: each block,
replayed from the trace, must reproduce the hidden states of the model, otherwise the model is unsupported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from assay.core.errors import UnsupportedError
from assay.models import hooks
from assay.models.encoding import Batch
from assay.models.families import Family
from assay.models.readout import LabelWords, Readout
from assay.models.trace import Affine, Attention, Block, Branch, FeedForward, Head, Norm, Trace

OUTSIDE = -1  # layer number of modules outside the blocks
CHECKED = 8  # positions at which a trace is compared with the model
# Orders of the layers in a block: N norm, L linear, S scale, A attention
PRE_NORM = re.compile(r"NL+ALS?NLLL?S?")
POST_NORM = re.compile(r"L+ALS?NLLL?S?N")
HEAD = re.compile(r"N?L+")


@dataclass(frozen=True)
class Event:
    """One call of a layer."""

    kind: str  # N, L, S or A
    module: nn.Module | None
    inputs: Tensor
    outputs: Tensor
    branches: tuple[tuple[Event, Tensor], ...] = ()  # the layers that feed it through an activation, with derivatives


@dataclass
class Recorder:
    """Hooks on all linear layers, norms and scales, and an attention tap."""

    hf: PreTrainedModel
    head: nn.Module | None = None  # a head of Assay's
    layers: dict[int, list[Event]] = field(default_factory=dict)  # by block; OUTSIDE: after the last block
    values_: dict[int, Tensor] = field(default_factory=dict)  # inputs of attention, (B,T,G d)
    outputs: Tensor | None = None  # of the last block
    leaves: list[Event] = field(default_factory=list)

    # --- as a tap --------------------------------------------------------------------------------------------------

    def probabilities(self, layer: int, probabilities: Tensor) -> Tensor:
        self._events(layer).append(Event("A", None, probabilities, probabilities))
        return probabilities

    def values(self, layer: int, values: Tensor) -> Tensor:
        self.values_[layer] = values.transpose(1, 2).flatten(2) if values.dim() == 4 else values
        return values

    # --- as hooks --------------------------------------------------------------------------------------------------

    @contextmanager
    def watching(self) -> Iterator[Recorder]:
        blocks = hooks.blocks(self.hf)
        layer_of = {id(m): layer for layer, block in enumerate(blocks) for m in block.modules()}
        with ExitStack() as stack:
            for module, kind in hooks.layers([self.hf, *([] if self.head is None else [self.head])]):
                stack.enter_context(hooks.hooked(module, self._hook(kind, layer_of.get(id(module), OUTSIDE))))
            stack.enter_context(hooks.hooked(blocks[-1], self._after_blocks))
            yield self

    def _hook(self, kind: str, layer: int) -> Any:
        def hook(module: nn.Module, args: tuple[Tensor, ...], output: Tensor) -> Tensor | None:
            events = self._events(layer)
            if kind == "L" and (_past_attention(events) if layer != OUTSIDE else self.outputs is not None):
                return self._record_linear(events, module, args[0], output)
            events.append(Event(kind, module, args[0], output))
            return None

        return hook

    def _record_linear(self, events: list[Event], module: nn.Module, inputs: Tensor, output: Tensor) -> Tensor:
        """Record a linear layer that may feed an activation.

        Its output becomes a leaf of autograd. Where a later layer reads an elementwise function of leaves, the gradient
        of the sum of its inputs is the derivative of that function.
        """
        if inputs.requires_grad:
            leaves = [e.outputs for e in self.leaves]
            derivatives = torch.autograd.grad(inputs.sum(), leaves, allow_unused=True)
            used = tuple((e, d) for e, d in zip(self.leaves, derivatives, strict=True) if d is not None)
            self.leaves = []
            events.append(Event("L", module, inputs.detach(), output.detach(), used))
            return output.detach()
        leaf = output.detach().requires_grad_()
        self.leaves.append(Event("L", module, inputs, leaf))
        events.append(self.leaves[-1])
        return leaf

    def _after_blocks(self, module: nn.Module, args: Any, output: Any) -> None:
        self.outputs = output[0] if isinstance(output, tuple) else output
        self.layers[OUTSIDE] = []  # earlier events belong to the embeddings
        self.leaves = []

    def _events(self, layer: int) -> list[Event]:
        return self.layers.setdefault(layer, [])

    # --- from events to a trace ------------------------------------------------------------------------------------

    def trace(self, family: Family, readout: Readout, batch: Batch, logits: Tensor) -> Trace:
        """The trace of the recorded pass."""
        blocks = tuple(self._block(layer) for layer in sorted(self.layers) if layer != OUTSIDE)
        if self.outputs is None:
            raise RuntimeError("no forward pass was recorded")
        outputs = _wide(self.outputs)
        head = self._head(readout, _pool(family, readout, batch, outputs.dtype))
        trace = Trace(blocks, outputs, head, logits.detach(), batch.mask)
        self._check(trace)
        return trace

    def _block(self, layer: int) -> Block:
        events = self._events(layer)
        order = "".join(e.kind for e in events)
        pre = bool(PRE_NORM.fullmatch(order))
        if not pre and not POST_NORM.fullmatch(order):
            raise self._unsupported(f"block {layer} runs its layers in the order {order}")
        split = order.index("A")
        first, later = events[:split], events[split + 1 :]
        scale, later = _scale(later, 1)
        norm, later = later[1], [later[0], *later[2:]]  # the norm between the halves
        attention = Attention(
            before=_norm(first[0]) if pre else None,
            probabilities=_wide(events[split].outputs).transpose(1, 2),
            value=self._value(layer, [e for e in first if e.kind == "L"]),
            output=_scaled(_affine(later[0]), scale),
            after=None if pre else _norm(norm),
        )
        middle = _wide(norm.inputs if pre else norm.outputs)
        return Block(attention, _feed_forward(later[1:], norm if pre else None), _wide(first[0].inputs), middle)

    def _value(self, layer: int, projections: list[Event]) -> Affine:
        """The projection, or part of a fused projection, whose output attention received as values."""
        values = self.values_[layer]
        width = values.shape[-1]
        for event in projections:
            for start in range(0, event.outputs.shape[-1] - width + 1, width):
                part = event.outputs[..., start : start + width]
                if part.shape == values.shape and torch.equal(part, values):
                    whole = _affine(event)
                    bias = None if whole.bias is None else whole.bias[start : start + width]
                    return Affine(whole.weight[start : start + width], bias)
        raise self._unsupported(f"the values of block {layer} are not the output of a linear layer")

    def _head(self, readout: Readout, pool: Tensor) -> Head:
        events = self._events(OUTSIDE)
        order = "".join(e.kind for e in events)
        if not HEAD.fullmatch(order):
            raise self._unsupported(f"after the blocks its layers run in the order {order or 'none'}")
        norm = _norm(events[0]) if order[0] == "N" else None
        output = _affine(events[-1])
        if isinstance(readout, LabelWords):
            rows = list(readout.tokens)
            output = Affine(output.weight[rows], None if output.bias is None else output.bias[rows])
        branches = events[-1].branches
        if not branches:
            return Head(norm, pool, output)
        layers = tuple(Branch(_affine(e), _row(e.outputs), _row(derivative)) for e, derivative in branches)
        return Head(norm, pool, FeedForward(None, layers, _row(events[-1].inputs), output, None))

    def _check(self, trace: Trace) -> None:
        """Raise unless both halves of each block, at a few positions, and the head reproduce the model."""
        tolerance = 0.1 if self.hf.dtype in (torch.float16, torch.bfloat16) else 1e-3
        step = max(1, trace.mask.shape[1] // CHECKED)

        def some(t: Tensor) -> Tensor:
            return t[:, ::step]

        real = some(trace.mask).unsqueeze(-1)
        states = [*(block.inputs for block in trace.blocks[1:]), trace.outputs]
        for layer, (block, state) in enumerate(zip(trace.blocks, states, strict=True)):
            few = block.at(some)
            middle = few.attention.mixed(block.attention.values(block.inputs), few.inputs)
            halves = (middle, few.middle), (few.feed_forward(few.middle), some(state))
            if any(_differ(ours * real, theirs * real, tolerance) for ours, theirs in halves):
                raise self._unsupported(f"block {layer} computes more than its layers show")
        if _differ(trace.head(trace.outputs), trace.logits, tolerance):
            raise self._unsupported("its head computes more than its layers show")

    def _unsupported(self, why: str) -> UnsupportedError:
        return UnsupportedError(
            f"{type(self.hf).__name__} cannot be decomposed: {why}; supported are blocks of attention and "
            "feed-forward layers with a norm before or after each, and heads of one or two linear layers; "
            "use a gradient or perturbation method"
        )


# --- parts of a trace --------------------------------------------------------------------------------------------


def _differ(ours: Tensor, theirs: Tensor, tolerance: float) -> bool:
    return bool((ours - theirs).abs().max() > tolerance * theirs.abs().max().clamp(min=1e-6))


def _past_attention(events: list[Event]) -> bool:
    """Whether the output projection of attention has run, so that the next linear layers feed activations."""
    kinds = [e.kind for e in events]
    return "A" in kinds and "L" in kinds[kinds.index("A") :]


def _affine(event: Event) -> Affine:
    if event.module is None:
        raise RuntimeError("attention is not a linear layer")
    weight, bias = hooks.affine(event.module)
    return Affine(_wide(weight), None if bias is None else _wide(bias))


def _scale(events: list[Event], place: int) -> tuple[Tensor | None, list[Event]]:
    """The scale at a place, if there is one, and the events without it."""
    module = events[place].module if place < len(events) and events[place].kind == "S" else None
    if module is None:
        return None, events
    return _wide(hooks.scale(module)), [*events[:place], *events[place + 1 :]]


def _scaled(affine: Affine, scale: Tensor | None) -> Affine:
    if scale is None:
        return affine
    return Affine(affine.weight * scale.unsqueeze(-1), None if affine.bias is None else affine.bias * scale)


def _norm(event: Event) -> Norm:
    """A norm as the model applied it; its factor is fitted to its output, so no epsilon or precision is assumed."""
    gain, shift, centred = hooks.norm(event.module)
    gain, x, y = _wide(gain), _wide(event.inputs), _wide(event.outputs)
    shift = None if shift is None else _wide(shift)
    direction = (x - x.mean(-1, keepdim=True) if centred else x) * gain
    linear = y if shift is None else y - shift
    size = direction.square().sum(-1, keepdim=True)
    inverse = (linear * direction).sum(-1, keepdim=True) / torch.where(size == 0, 1.0, size)
    return Norm(gain, shift, centred, inverse)


def _feed_forward(events: list[Event], before: Event | None) -> FeedForward:
    """Linear layers [, scale] [, norm]; the last linear layer is the output."""
    linears = [e for e in events if e.kind == "L"]
    scale, rest = _scale(events, len(linears))
    branches = tuple(Branch(_affine(e), _wide(e.outputs.detach()), _wide(d)) for e, d in linears[-1].branches)
    return FeedForward(
        before=None if before is None else _norm(before),
        branches=branches,
        hidden=_wide(linears[-1].inputs),
        output=_scaled(_affine(linears[-1]), scale),
        after=_norm(rest[-1]) if rest[-1].kind == "N" else None,
    )


def _pool(family: Family, readout: Readout, batch: Batch, dtype: torch.dtype) -> Tensor:
    """(B,K,T): weights of the sums over positions that the head reads."""
    real = batch.mask.to(dtype)
    if readout.reads_mean:
        return (real / real.sum(1, keepdim=True)).unsqueeze(1)
    row = torch.zeros_like(real)
    row[torch.arange(len(batch)), batch.readout] = 1.0
    if not family.pools:
        return row.unsqueeze(1)
    patches = torch.ones_like(row)
    patches[:, : family.lead] = 0.0
    return torch.stack([row, patches / patches.sum(1, keepdim=True)], 1)


def _row(tensor: Tensor) -> Tensor:
    """(B,F) -> (B,1,F)"""
    tensor = _wide(tensor.detach())
    return tensor.unsqueeze(1) if tensor.dim() == 2 else tensor


def _wide(tensor: Tensor) -> Tensor:
    """At least float32, without a graph."""
    tensor = tensor.detach()
    return tensor if tensor.dtype == torch.float64 else tensor.float()
