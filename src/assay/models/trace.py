"""What one forward pass leaves behind, as data: the weights of every block and all that it computed non-linearly.

With attention, norms and activations held at what they were in that pass, the network is affine in its first hidden
states. `replay` runs this frozen network; the methods of explainers/decomposition are pure functions of a Trace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import linear

Select = Callable[[Tensor], Tensor]  # of a tensor (B,T,...): some rows of the batch, or some positions
Slope = Literal["zero_origin", "tangent"]
Gate = Literal["up", "gate", "half"]


@dataclass(frozen=True)
class Affine:
    """x -> W x + b."""

    weight: Tensor  # (out, in)
    bias: Tensor | None  # (out,)

    def __call__(self, x: Tensor) -> Tensor:
        return linear(x, self.weight, self.bias)


@dataclass(frozen=True)
class Norm:
    """x -> gain * (x - mean x) * inverse + shift; no mean is taken off in an RMS norm."""

    gain: Tensor  # (D,)
    shift: Tensor | None  # (D,)
    centred: bool
    inverse: Tensor  # (B,T,1) one over the spread that the model divided by

    def __call__(self, x: Tensor) -> Tensor:
        scaled = (x - x.mean(-1, keepdim=True) if self.centred else x) * self.inverse * self.gain
        return scaled if self.shift is None else scaled + self.shift

    def at(self, select: Select) -> Norm:
        return replace(self, inverse=select(self.inverse))


@dataclass(frozen=True)
class Attention:
    """Half a block: [norm] -> values, mixed by the probabilities of each head -> output + residual -> [norm]."""

    before: Norm | None
    probabilities: Tensor  # (B,T,H,T) by query, head, key
    value: Affine  # (G d, D); G <= H value heads, each shared by H / G query heads
    output: Affine  # (D, H d)
    after: Norm | None

    @property
    def heads(self) -> int:
        return self.probabilities.shape[2]

    @property
    def head_width(self) -> int:
        return self.output.weight.shape[1] // self.heads

    def at(self, select: Select) -> Attention:
        p = select(self.probabilities)
        return replace(self, before=_at(self.before, select), probabilities=p, after=_at(self.after, select))

    def values(self, x: Tensor) -> Tensor:
        """(B,T,D) -> (B,T,H,d)"""
        flat = self.value(x if self.before is None else self.before(x))
        values = flat.view(*flat.shape[:2], -1, self.head_width)
        repeats = self.heads // values.shape[2]
        return values if repeats == 1 else values.repeat_interleave(repeats, 2)

    def mixed(self, values: Tensor, x: Tensor) -> Tensor:
        """Values of all positions (B,T,H,d) into some positions x (B,I,D)."""
        mixed = self.probabilities.transpose(1, 2) @ values.transpose(1, 2)  # (B,H,I,d)
        y = x + self.output(mixed.transpose(1, 2).flatten(2))
        return y if self.after is None else self.after(y)

    def __call__(self, x: Tensor) -> Tensor:
        return self.mixed(self.values(x), x)


@dataclass(frozen=True)
class Branch:
    """A linear layer that an activation, or the other branch of a gate, follows."""

    affine: Affine  # (F, D)
    outputs: Tensor  # (B,T,F) what it gave
    derivative: Tensor  # (B,T,F) of the hidden units with respect to that


@dataclass(frozen=True)
class Linearised:
    """hidden = sum over branches of slope * (W x + b), + offset: exact at the inputs of the trace."""

    branches: tuple[tuple[Affine, Tensor], ...]  # with slopes (B,T,F)
    offset: Tensor | None  # (B,T,F)

    def at(self, select: Select) -> Linearised:
        branches = tuple((affine, select(slope)) for affine, slope in self.branches)
        return Linearised(branches, None if self.offset is None else select(self.offset))

    def __call__(self, x: Tensor) -> Tensor:
        hidden = sum((slope * affine(x) for affine, slope in self.branches), torch.zeros((), dtype=x.dtype))
        return hidden if self.offset is None else hidden + self.offset


@dataclass(frozen=True)
class FeedForward:
    """The other half: [norm] -> hidden units -> output + residual -> [norm]. Two branches if the units are gated."""

    before: Norm | None
    branches: tuple[Branch, ...]  # (units,) or (gate, up)
    hidden: Tensor  # (B,T,F) what enters the output layer
    output: Affine  # (D, F)
    after: Norm | None

    def at(self, select: Select) -> FeedForward:
        branches = tuple(Branch(b.affine, select(b.outputs), select(b.derivative)) for b in self.branches)
        before, after = _at(self.before, select), _at(self.after, select)
        return replace(self, before=before, branches=branches, hidden=select(self.hidden), after=after)

    def linearised(self, slope: Slope = "zero_origin", gate: Gate = "up") -> Linearised:
        """The hidden units as an affine map.

        zero_origin: slope a / u, the chord from 0, no offset. tangent: slope a'(u) with offset a - a'(u) u.
        A gated unit act(g) * up is bilinear; `gate` says which factor carries the input while the other is held:
        "up" (slope act(g), the same under both rules), "gate" (slope up * act(g) / g), or "half" of each.
        """
        if len(self.branches) == 1 or gate == "gate":
            return self._one(self.branches[0], slope)
        up = self.branches[1]
        if gate == "up":
            return Linearised(((up.affine, up.derivative),), None)
        first = self._one(self.branches[0], slope)
        branches = tuple((affine, s / 2) for affine, s in (*first.branches, (up.affine, up.derivative)))
        return Linearised(branches, None if first.offset is None else first.offset / 2)

    def _one(self, branch: Branch, slope: Slope) -> Linearised:
        u = branch.outputs
        if slope == "tangent":
            return Linearised(((branch.affine, branch.derivative),), self.hidden - branch.derivative * u)
        zero = u == 0  # every activation of a transformer is 0 there, so any slope is exact
        chord = torch.where(zero, 0.0, self.hidden / torch.where(zero, 1.0, u))
        return Linearised(((branch.affine, chord),), None)

    def __call__(self, x: Tensor, slope: Slope = "zero_origin", gate: Gate = "up") -> Tensor:
        hidden = self.linearised(slope, gate)(x if self.before is None else self.before(x))
        y = x + self.output(hidden)
        return y if self.after is None else self.after(y)


@dataclass(frozen=True)
class Block:
    """One transformer block."""

    attention: Attention
    feed_forward: FeedForward
    inputs: Tensor  # (B,T,D) the hidden states that entered it
    middle: Tensor  # (B,T,D) after attention and its residual (and norm, where one follows at once)

    def at(self, select: Select) -> Block:
        halves = self.attention.at(select), self.feed_forward.at(select)
        return Block(*halves, select(self.inputs), select(self.middle))


@dataclass(frozen=True)
class Head:
    """From hidden states to class outputs: [norm] -> weighted sums of positions -> [hidden units] -> linear."""

    norm: Norm | None
    pool: Tensor  # (B,K,T) the weights of K sums, set side by side
    layer: FeedForward | Affine  # a FeedForward here has no norms and no residual; its tensors are (B,1,F)

    def at(self, select: Select) -> Head:
        layer = self.layer.at(select) if isinstance(self.layer, FeedForward) else self.layer
        return Head(_at(self.norm, select), self.pool, layer)

    def __call__(self, x: Tensor, slope: Slope = "zero_origin") -> Tensor:  # (B,T,D) -> (B,C)
        pooled = (self.pool @ (x if self.norm is None else self.norm(x))).flatten(1)
        if isinstance(self.layer, Affine):
            return self.layer(pooled)
        return self.layer.output(self.layer.linearised(slope)(pooled.unsqueeze(1))).squeeze(1)


@dataclass(frozen=True)
class Trace:
    """A batch as it went through the model."""

    blocks: tuple[Block, ...]
    outputs: Tensor  # (B,T,D) of the last block
    head: Head
    logits: Tensor  # (B,C)
    mask: Tensor  # (B,T) 1 = position in use

    def part(self, start: int, stop: int) -> Trace:
        """Some rows of the batch, without the padding that none of them needs."""
        width = int(self.mask[start:stop].sum(1).max())

        def select(t: Tensor) -> Tensor:
            return t[start:stop, :width]

        blocks = tuple(_without_keys(block.at(select), width) for block in self.blocks)
        head = replace(self.head.at(select), pool=self.head.pool[start:stop, :, :width])
        return Trace(blocks, select(self.outputs), head, self.logits[start:stop], select(self.mask))

    def parts(self, vectors: int) -> Iterator[Trace]:
        """The batch in parts of at most `vectors` pairs of positions; one input at least."""
        size = max(1, vectors // self.mask.shape[1] ** 2)
        for start in range(0, len(self.mask), size):
            yield self.part(start, min(start + size, len(self.mask)))


def replay(trace: Trace, hidden: Tensor, slope: Slope = "zero_origin", gate: Gate = "up") -> Tensor:
    """(B,T,D) -> (B,C): the frozen network, affine in `hidden` and equal to the model at the trace's own inputs."""
    for block in trace.blocks:
        hidden = block.feed_forward(block.attention(hidden), slope, gate)
    return trace.head(hidden, slope)


def _at(norm: Norm | None, select: Select) -> Norm | None:
    return None if norm is None else norm.at(select)


def _without_keys(block: Block, width: int) -> Block:
    attention = block.attention
    return replace(block, attention=replace(attention, probabilities=attention.probabilities[..., :width]))
