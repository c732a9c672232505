"""A forward pass as data: the weights of every block and the results of every non-linear step.

With attention, norms and activations fixed at their values in that pass, the network is affine in its first hidden
states. `replay` runs this fixed network; the methods of explainers/decomposition are pure functions of a Trace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import linear

Select = Callable[[Tensor], Tensor]  # selects rows of the batch, or positions, of a tensor (B,T,...)
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
    """x -> gain * (x - mean x) * inverse + shift; an RMS norm does not subtract the mean."""

    gain: Tensor  # (D,)
    shift: Tensor | None  # (D,)
    centred: bool
    inverse: Tensor  # (B,T,1) one over the standard deviation (or RMS) in that pass

    def __call__(self, x: Tensor) -> Tensor:
        scaled = (x - x.mean(-1, keepdim=True) if self.centred else x) * self.inverse * self.gain
        return scaled if self.shift is None else scaled + self.shift

    def at(self, select: Select) -> Norm:
        return replace(self, inverse=select(self.inverse))


@dataclass(frozen=True)
class Attention:
    """First half of a block: [norm] -> values, mixed by the attention of each head -> output + residual -> [norm]."""

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
        """Output at positions x (B,I,D) from the values (B,T,H,d) of all positions."""
        mixed = self.probabilities.transpose(1, 2) @ values.transpose(1, 2)  # (B,H,I,d)
        y = x + self.output(mixed.transpose(1, 2).flatten(2))
        return y if self.after is None else self.after(y)

    def __call__(self, x: Tensor) -> Tensor:
        return self.mixed(self.values(x), x)


@dataclass(frozen=True)
class Branch:
    """A linear layer followed by an activation, or by the product with the other branch of a gate."""

    affine: Affine  # (F, D)
    outputs: Tensor  # (B,T,F) its outputs
    derivative: Tensor  # (B,T,F) of the hidden units with respect to its outputs


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
    """Second half of a block: [norm] -> hidden units -> output + residual -> [norm]. Gated units have two branches."""

    before: Norm | None
    branches: tuple[Branch, ...]  # (units,) or (gate, up)
    hidden: Tensor  # (B,T,F) inputs of the output layer
    output: Affine  # (D, F)
    after: Norm | None

    def at(self, select: Select) -> FeedForward:
        branches = tuple(Branch(b.affine, select(b.outputs), select(b.derivative)) for b in self.branches)
        before, after = _at(self.before, select), _at(self.after, select)
        return replace(self, before=before, branches=branches, hidden=select(self.hidden), after=after)

    def linearised(self, slope: Slope = "zero_origin", gate: Gate = "up") -> Linearised:
        """The hidden units as an affine map.

        zero_origin: slope a / u, the chord from 0, no offset. tangent: slope a'(u) with offset a - a'(u) u.
        A gated unit act(g) * up is bilinear; `gate` names the factor that carries the input while the other is fixed:
        "up" (slope act(g), the same under both rules), "gate" (slope up * act(g) / g), or "half" of each.
        """
        if len(self.branches) == 1 or gate == "gate":
            return self._branch(self.branches[0], slope)
        up = self.branches[1]
        if gate == "up":
            return Linearised(((up.affine, up.derivative),), None)
        first = self._branch(self.branches[0], slope)
        branches = tuple((affine, s / 2) for affine, s in (*first.branches, (up.affine, up.derivative)))
        return Linearised(branches, None if first.offset is None else first.offset / 2)

    def _branch(self, branch: Branch, slope: Slope) -> Linearised:
        u = branch.outputs
        if slope == "tangent":
            return Linearised(((branch.affine, branch.derivative),), self.hidden - branch.derivative * u)
        zero = u == 0  # activations are 0 at 0, so any slope is exact
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
    inputs: Tensor  # (B,T,D) its input hidden states
    middle: Tensor  # (B,T,D) after attention and residual (and the norm in a post-norm block)

    def at(self, select: Select) -> Block:
        halves = self.attention.at(select), self.feed_forward.at(select)
        return Block(*halves, select(self.inputs), select(self.middle))


@dataclass(frozen=True)
class Head:
    """From hidden states to class outputs: [norm] -> weighted sums of positions -> [hidden units] -> linear."""

    norm: Norm | None
    pool: Tensor  # (B,K,T) weights of K sums, concatenated
    layer: FeedForward | Affine  # a FeedForward here has neither norms nor residual; its tensors are (B,1,F)

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
    """One forward pass of a batch."""

    blocks: tuple[Block, ...]
    outputs: Tensor  # (B,T,D) of the last block
    head: Head
    logits: Tensor  # (B,C)
    mask: Tensor  # (B,T) 1 = position in use

    def part(self, start: int, stop: int) -> Trace:
        """Some rows of the batch, without padding that none of them needs."""
        width = int(self.mask[start:stop].sum(1).max())

        def select(t: Tensor) -> Tensor:
            return t[start:stop, :width]

        blocks = tuple(_without_keys(block.at(select), width) for block in self.blocks)
        head = replace(self.head.at(select), pool=self.head.pool[start:stop, :, :width])
        return Trace(blocks, select(self.outputs), head, self.logits[start:stop], select(self.mask))

    def parts(self, vectors: int) -> Iterator[Trace]:
        """The batch in parts of at most `vectors` pairs of positions, but at least one input."""
        size = max(1, vectors // self.mask.shape[1] ** 2)
        for start in range(0, len(self.mask), size):
            yield self.part(start, min(start + size, len(self.mask)))


def replay(trace: Trace, hidden: Tensor, slope: Slope = "zero_origin", gate: Gate = "up") -> Tensor:
    """(B,T,D) -> (B,C): the fixed network, affine in `hidden` and equal to the model at the inputs of the trace."""
    for block in trace.blocks:
        hidden = block.feed_forward(block.attention(hidden), slope, gate)
    return trace.head(hidden, slope)


def _at(norm: Norm | None, select: Select) -> Norm | None:
    return None if norm is None else norm.at(select)


def _without_keys(block: Block, width: int) -> Block:
    attention = block.attention
    return replace(block, attention=replace(attention, probabilities=attention.probabilities[..., :width]))
