"""Decomposed hidden states: X[i,j], what position j brought to position i, carried through blocks and head.

All non-linear coefficients are those of a Trace, so every step is linear in X and the vectors of a position keep
summing to its hidden state. Everything is done for a few rows i at a time, few enough to stay in the cache, and a block
overwrites its input: two tensors (B,T,T,D) are alive, X and the values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import linear

from assay.models.trace import Affine, Attention, Block, FeedForward, Gate, Head, Linearised, Norm, Select, Slope, Trace

Sharing = Literal["absdot", "abssim", "norm", "equal", "cls", "bias_token"]
MIXED = 1 << 15  # vectors mixed at once: attention reads all values for them, so they should be many
CACHED = 1 << 9  # vectors that pass norms and feed-forward layers at once: these should stay in the cache


@dataclass(frozen=True)
class Rules:
    """How what is not linear in X is dealt with. `bias` None leaves all biases out."""

    bias: Sharing | None = "absdot"
    activation: Slope = "zero_origin"
    gate: Gate = "up"
    inside: bool = True  # values of the first block (each from one source) keep their bias, as the authors' code does
    feed_forward: bool = True


# --- biases ------------------------------------------------------------------------------------------------------


def share(vectors: Tensor, bias: Tensor | None, rule: Sharing | None) -> Tensor:
    """X_ij + w_ij b_i with sum_j w_ij = 1, in place; bias (D,) or one per row (B,I,D)."""
    if bias is None or rule is None:
        return vectors
    if rule in ("cls", "bias_token"):
        vectors[:, :, 0 if rule == "cls" else -1] += bias
        return vectors
    weights = _to_one(_weights(vectors, bias, rule))  # (B,I,J)
    return vectors.addcmul_(weights.unsqueeze(-1), bias.unsqueeze(-2))


def _weights(vectors: Tensor, bias: Tensor, rule: Sharing) -> Tensor:
    """(B,I,J) how much of a bias each source deserves, before normalisation."""
    if rule == "equal":
        return (vectors != 0).any(-1).to(vectors.dtype)
    if rule == "norm":
        return _lengths(vectors)
    dots = (vectors @ bias.unsqueeze(-1)).squeeze(-1).abs()
    if rule == "absdot":
        return dots
    lengths = _lengths(vectors)  # abssim; the length of the bias cancels
    return torch.where(lengths == 0, 0.0, dots / torch.where(lengths == 0, 1.0, lengths))


def _lengths(vectors: Tensor) -> Tensor:
    lengths: Tensor = torch.linalg.vector_norm(vectors, dim=-1)
    return lengths


def _to_one(weights: Tensor) -> Tensor:
    """Rows that sum to 1; a row of zeros gives all to the first position, so that no bias is lost."""
    total = weights.sum(-1, keepdim=True)
    weights = weights / torch.where(total == 0, 1.0, total)
    weights[..., 0] += (total == 0).squeeze(-1)
    return weights


# --- a block -----------------------------------------------------------------------------------------------------


def normalise(vectors: Tensor, norm: Norm, rule: Sharing | None, *, keep: bool = False) -> Tensor:
    """gain * (X_ij - mean X_ij) / spread_i, the spread of the whole state; shift shared. In place unless `keep`."""
    factors = (norm.inverse * norm.gain).unsqueeze(2)  # (B,I,1,D)
    if norm.centred:
        mean = vectors.mean(-1, keepdim=True)
        vectors = (vectors - mean if keep else vectors.sub_(mean)).mul_(factors)
    else:
        vectors = vectors * factors if keep else vectors.mul_(factors)
    return share(vectors, norm.shift, rule)


def project(vectors: Tensor, weight: Tensor) -> Tensor:
    """W X_ij, as one matrix product (a product of four dimensions may become a batch of small ones)."""
    return (vectors.flatten(0, 2) @ weight.T).view(*vectors.shape[:3], -1)


def head_vectors(attention: Attention, inputs: Tensor, *, biased: bool) -> Tensor:
    """(B,T,D) -> (B,T,H,D): W_O^h (W_V^h n(x_j) + b_V^h), what one head brings from one position at attention 1."""
    before, width = attention.before, attention.head_width
    if before is not None:
        inputs = before(inputs) if biased or before.shift is None else before(inputs) - before.shift
    values = linear(inputs, attention.value.weight, attention.value.bias if biased else None).unflatten(-1, (-1, width))
    values = values.repeat_interleave(attention.heads // values.shape[2], 2)  # (B,T,H,d)
    weights = attention.output.weight.unflatten(1, (-1, width)).permute(1, 2, 0)  # (H,d,D)
    brought: Tensor = values.transpose(1, 2) @ weights
    return brought.transpose(1, 2)


def weighted(probabilities: Tensor, brought: Tensor) -> Tensor:
    """sum_h A^h_ij f^h_j: (B,I,H,J), (B,J,H,D) -> (B,I,J,D)"""
    return (probabilities.permute(0, 3, 1, 2) @ brought).transpose(1, 2).contiguous()


def add_own(vectors: Tensor, own: Tensor, at: Tensor) -> Tensor:
    """X_ij + [at_i = j] x_i in place: (B,I,J,D), (B,I,D), (1 or B, I)"""
    index = at.expand(vectors.shape[:2])[..., None, None].expand(-1, -1, 1, vectors.shape[3])
    return vectors.scatter_add_(2, index, own.unsqueeze(2))


def values(attention: Attention, vectors: Tensor, rule: Sharing | None) -> Tensor:
    """(B,T,J,D) -> (B,G,T,J,d): the values that attention mixes, without their bias."""
    batch, positions, sources, _ = vectors.shape
    width = attention.head_width
    groups = len(attention.value.weight) // width
    out = vectors.new_empty(batch, groups, positions, sources, width)
    for rows in slices(positions, CACHED // (batch * sources)):
        part = vectors[:, rows]
        if attention.before is not None:
            part = normalise(part, attention.before.at(_rows(rows)), rule, keep=True)
        out[:, :, rows] = project(part, attention.value.weight).unflatten(-1, (groups, width)).permute(0, 3, 1, 2, 4)
    return out


def mix(probabilities: Tensor, mixed: Tensor) -> Tensor:
    """sum_k A^h_ik V^h_kj: (B,I,H,K), (B,G,K,J,d) -> (B,H,I,J,d)"""
    batch, groups, keys, sources, width = mixed.shape
    rows, heads = probabilities.shape[1:3]
    by_group = probabilities.permute(0, 2, 1, 3).reshape(batch, groups, -1, keys)  # (B,G,H/G I,K)
    return (by_group @ mixed.flatten(3)).view(batch, heads, rows, sources, width)


def attention_bias(attention: Attention, *, inside: bool) -> Tensor | None:
    """W_O b_V + b_O: rows of attention sum to 1, so the bias of the values arrives whole."""
    value, output = attention.value.bias, attention.output.bias
    if value is None or inside:
        return output
    repeats = attention.heads * attention.head_width // len(value)
    value = value.unflatten(0, (-1, attention.head_width)).repeat_interleave(repeats, 0).flatten()
    return linear(value, attention.output.weight, output)


def feed_forward(layer: FeedForward, vectors: Tensor, rules: Rules) -> Tensor:
    """Hidden units by their slopes, then the output layer; the residual and the norms around both."""
    if rules.feed_forward:
        inputs = vectors if layer.before is None else normalise(vectors, layer.before, rules.bias, keep=True)
        vectors = vectors.add_(through_units(inputs, layer, layer.linearised(rules.activation, rules.gate), rules))
    return vectors if layer.after is None else normalise(vectors, layer.after, rules.bias)


def through_units(vectors: Tensor, layer: FeedForward, units: Linearised, rules: Rules) -> Tensor:
    """Hidden units by their slopes, then the output layer: (B,I,J,D) -> (B,I,J,D)"""
    if rules.bias == "absdot" and len(units.branches) == 1 and units.offset is None:
        return _with_short_biases(vectors, layer, *units.branches[0])
    first, *others = (
        share(project(vectors, affine.weight), affine.bias, rules.bias).mul_(slope.unsqueeze(2))
        for affine, slope in units.branches
    )
    for other in others:
        first.add_(other)
    hidden = share(first, units.offset, rules.bias)
    return share(project(hidden, layer.output.weight), layer.output.bias, rules.bias)


def _with_short_biases(vectors: Tensor, layer: FeedForward, affine: Affine, slope: Tensor) -> Tensor:
    """The same for absdot, with the bias of the units shared where vectors are short.

    |<W x_ij, b>| = |<x_ij, W^T b>|, and w_ij slope b goes through the output layer as one vector per row.
    """
    out = project(project(vectors, affine.weight).mul_(slope.unsqueeze(2)), layer.output.weight)
    if affine.bias is not None:
        weights = _to_one((vectors @ (affine.bias @ affine.weight)).abs())  # (B,I,J)
        out.addcmul_(weights.unsqueeze(-1), linear(slope * affine.bias, layer.output.weight).unsqueeze(-2))
    return share(out, layer.output.bias, "absdot")


def through_block(block: Block, vectors: Tensor | None, rules: Rules, rows: Tensor | None = None) -> Tensor:
    """X of a block's outputs from X of its inputs, which it overwrites; only `rows` (B,R) of it where given.

    `vectors` None: each position is its own source. Then attention has one term per pair and no mixing is needed.
    """
    inside = vectors is None and rules.inside
    if vectors is None and not inside:
        vectors = diagonal(block.inputs, extra=rules.bias == "bias_token")
    bias = attention_bias(block.attention, inside=inside)
    if vectors is None:
        parts = _alone(block, rows)
    else:
        brought = values(block.attention, vectors, rules.bias)
        vectors = vectors if rows is None else _gather(rows)(vectors)
        parts = _mixed(block if rows is None else block.at(_gather(rows)), vectors, brought)
    out = vectors
    for some, part, attended in parts:
        attended = share(attended, bias, rules.bias)
        if part.attention.after is not None:
            attended = normalise(attended, part.attention.after, rules.bias)
        if out is None:
            out = attended.new_empty(len(attended), _count(block, rows), *attended.shape[2:])
        out[:, some] = feed_forward(part.feed_forward, attended, rules)
    if out is None:
        raise ValueError("a block without positions")
    return out


Part = tuple[slice, Block, Tensor]  # some rows, the block at them, and attention + residual there (B,I,J,D)


def _mixed(block: Block, own: Tensor, brought: Tensor) -> Iterator[Part]:
    """Attention over decomposed values: mixed for many rows at a time, the rest for a few."""
    batch, positions, sources = own.shape[:3]
    few = max(1, CACHED // (batch * sources))
    for many in slices(positions, max(few, MIXED // (batch * sources) // few * few)):
        mixed = mix(block.attention.probabilities[:, many], brought)  # (B,H,I,J,d)
        for rows in slices(mixed.shape[2], few):
            some = slice(many.start + rows.start, many.start + rows.stop)
            side_by_side = mixed[:, :, rows].permute(0, 2, 3, 1, 4).flatten(3)  # (B,I,J,H d)
            attended = project(side_by_side, block.attention.output.weight).add_(own[:, some])
            yield some, block.at(_rows(some)), attended


def _alone(block: Block, rows: Tensor | None) -> Iterator[Part]:
    """Attention over positions that are their own sources."""
    brought = head_vectors(block.attention, block.inputs, biased=True)
    at = torch.arange(block.inputs.shape[1], device=brought.device)[None] if rows is None else rows  # (1 or B,R)
    block = block if rows is None else block.at(_gather(rows))
    batch, positions = block.inputs.shape[:2]
    for some in slices(positions, CACHED // (batch * brought.shape[1])):
        part = block.at(_rows(some))
        attended = weighted(part.attention.probabilities, brought)
        yield some, part, add_own(attended, part.inputs, at[:, some])


def _count(block: Block, rows: Tensor | None) -> int:
    return block.inputs.shape[1] if rows is None else rows.shape[1]


# --- the whole network -------------------------------------------------------------------------------------------


def diagonal(hidden: Tensor, *, extra: bool = False) -> Tensor:
    """(B,T,D) -> (B,T,T,D): each position is its own source; `extra` adds the source that collects biases."""
    vectors = hidden.new_zeros(*hidden.shape[:2], hidden.shape[1] + extra, hidden.shape[2])
    index = torch.arange(hidden.shape[1], device=hidden.device)
    vectors[:, index, index] = hidden
    return vectors


def through_blocks(trace: Trace, rules: Rules, *, last: bool = False) -> Iterator[Tensor]:
    """X after each block, (B,T,J,D); the next step overwrites it. `last`: of the last block, only the row read."""
    vectors = None
    for number, block in enumerate(trace.blocks, 1):
        rows = read_rows(trace.head) if last and number == len(trace.blocks) else None
        vectors = through_block(block, vectors, rules, rows)
        yield vectors


def class_vectors(trace: Trace, rules: Rules) -> Tensor:
    """(B,J,C): what each source brought to the class outputs; they sum to the logits."""
    vectors = torch.empty(0)
    for vectors in through_blocks(trace, rules, last=True):  # noqa: B007
        pass
    return through_head(trace.head, vectors, rules)


def through_head(head: Head, vectors: Tensor, rules: Rules) -> Tensor:
    """(B,R,J,D) -> (B,J,C)"""
    rows, pool = read_rows(head), head.pool
    if rows is not None:
        head, pool = head.at(lambda t: t if t.shape[1] == 1 else _gather(rows)(t)), pool.gather(2, rows.unsqueeze(1))
    if head.norm is not None:
        vectors = normalise(vectors, head.norm, rules.bias)
    pooled = torch.einsum("bkr,brjd->bjkd", pool, vectors).flatten(2).unsqueeze(1)  # (B,1,J,K D)
    if isinstance(head.layer, FeedForward):
        return through_units(pooled, head.layer, head.layer.linearised(rules.activation), rules).squeeze(1)
    return share(project(pooled, head.layer.weight), head.layer.bias, rules.bias).squeeze(1)


def read_rows(head: Head) -> Tensor | None:
    """(B,1) the position that the head reads; None where it reads a mean."""
    return head.pool.argmax(-1) if head.pool.shape[1] == 1 and bool((head.pool.max(-1).values == 1).all()) else None


def block_norms(trace: Trace, rules: Rules) -> list[Tensor]:
    """Per block (B,T,T): |X_ij| with each position its own source; rows of padding are 0. For rollout."""
    real = trace.mask.unsqueeze(-1)
    return [_lengths(through_block(block, None, rules)) * real for block in trace.blocks]


# --- slices ------------------------------------------------------------------------------------------------------


def slices(length: int, size: int) -> Iterator[slice]:
    """Consecutive parts of a length, of `size` (at least 1) each."""
    size = max(1, size)
    return (slice(start, min(start + size, length)) for start in range(0, length, size))


def _rows(rows: slice) -> Select:
    return lambda t: t[:, rows]


def _gather(rows: Tensor) -> Select:
    batch = torch.arange(len(rows), device=rows.device).unsqueeze(1)
    return lambda t: t[batch, rows]
