"""Decomposed hidden states: X[i,j], the contribution of position j to position i, through blocks and head.

All non-linear coefficients are those of a Trace, so every step is linear in X and the vectors of a position still
sum to its hidden state. A block overwrites its input, a few rows i at a time (R,J,D), few enough to stay in the
cache: two tensors (B,T,T,D) are in memory, X and the values, and a third while values are mixed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import linear

from assay.explainers.decomposition._sharing import BiasRule, lengths, share
from assay.explainers.decomposition._units import Units, project
from assay.models.trace import Attention, Block, FeedForward, Gate, Head, Norm, Select, Slope, Trace

MIXED = 1 << 15  # vectors mixed at once: attention reads all values for them, so they should be many
CACHED = 3 << 9  # vectors that pass norms and feed-forward layers at once: these should stay in the cache


@dataclass(frozen=True)
class DecompositionSettings:
    """How biases and non-linear parts are treated. `bias` None leaves all biases out."""

    bias: BiasRule | None = "absdot"
    activation: Slope = "zero_origin"
    gate: Gate = "up"
    inside: bool = True  # keep the bias of the first block's values (one source each), as the authors' code does
    feed_forward: bool = True


# --- attention ---------------------------------------------------------------------------------------------------


def head_vectors(attention: Attention, inputs: Tensor) -> Tensor:
    """(B,T,D) -> (B,T,H,D): W_O^h (W_V^h n(x_j) + b_V^h), one head's contribution from one position at attention 1."""
    weights = attention.output.weight.unflatten(1, (-1, attention.head_width)).permute(1, 2, 0)  # (H,d,D)
    brought: Tensor = attention.values(inputs).transpose(1, 2) @ weights
    return brought.transpose(1, 2)


def weighted(probabilities: Tensor, brought: Tensor) -> Tensor:
    """sum_h A^h_ij f^h_j: (B,I,H,J), (B,J,H,D) -> (B,I,J,D)"""
    batch, rows, _, sources = probabilities.shape
    out = brought.new_empty(batch, rows, sources, brought.shape[3])
    for p, f, o in zip(probabilities.permute(0, 3, 1, 2), brought, out, strict=True):
        torch.bmm(p, f, out=o.transpose(0, 1))  # written in place
    return out


def add_own(vectors: Tensor, own: Tensor, at: Tensor) -> Tensor:
    """X_ij + [at_i = j] x_i in place: (B,I,J,D), (B,I,D), (1 or B, I)"""
    index = at.expand(vectors.shape[:2])[..., None, None].expand(-1, -1, 1, vectors.shape[3])
    return vectors.scatter_add_(2, index, own.unsqueeze(2))


def values(attention: Attention, vectors: Tensor, bias_rule: BiasRule | None) -> Tensor:
    """(B,T,J,D) -> (G,B,T,J,d): the values that attention mixes, without their bias."""
    width = attention.head_width
    weight = attention.value.weight.unflatten(0, (-1, width)).transpose(1, 2).contiguous()  # (G,D,d)
    out = vectors.new_empty(len(weight), *vectors.shape[:3], width)
    for place in places(vectors, CACHED):
        part = vectors[place].flatten(0, 1)  # (R,J,D)
        if attention.before is not None:
            part = normalise(part, attention.before.at(at(place)), bias_rule, keep=True)
        part = part.flatten(0, 1).expand(len(weight), -1, -1)
        torch.bmm(part, weight, out=out[(slice(None), *place)].flatten(1, 3))
    return out


def mix(probabilities: Tensor, brought: Tensor) -> Tensor:
    """sum_k A^h_ik V^h_kj: (B,I,H,K), (G,B,K,J,d) -> (B,I,J,G,H/G,d), a view"""
    groups, batch, keys, sources, width = brought.shape
    rows = probabilities.shape[1]
    by_group = probabilities.unflatten(2, (groups, -1)).permute(2, 0, 3, 1, 4)  # (G,B,H/G,I,K)
    mixed = by_group.reshape(groups * batch, -1, keys) @ brought.flatten(3).flatten(0, 1)
    by_row: Tensor = mixed.view(groups, batch, -1, rows, sources, width).permute(1, 3, 4, 0, 2, 5)
    return by_row


def attention_bias(attention: Attention, *, inside: bool) -> Tensor | None:
    """W_O b_V + b_O: rows of attention sum to 1, so the bias of the values is passed on unchanged."""
    value, output = attention.value.bias, attention.output.bias
    if value is None or inside:
        return output
    repeats = attention.heads * attention.head_width // len(value)
    value = value.unflatten(0, (-1, attention.head_width)).repeat_interleave(repeats, 0).flatten()
    return linear(value, attention.output.weight, output)


# --- a block -----------------------------------------------------------------------------------------------------


def through_block(
    block: Block, vectors: Tensor | None, settings: DecompositionSettings, rows: Tensor | None = None
) -> Tensor:
    """X of a block's outputs from X of its inputs, which it overwrites; only `rows` (B,R) of it where given.

    `vectors` None: each position is its own source. Then attention has one term per pair and no mixing is needed.
    """
    inside = vectors is None and settings.inside
    if vectors is None and not inside:
        vectors = diagonal(block.inputs, extra=settings.bias == "bias_token")
    bias = attention_bias(block.attention, inside=inside)
    if vectors is None:
        vectors = _alone(block, rows)
        done = places(vectors, CACHED)
    else:
        brought = values(block.attention, vectors, settings.bias)
        vectors = vectors if rows is None else _gather(rows)(vectors)
        done = _mixed(block.attention, rows, vectors, brought)
    block = block if rows is None else block.at(_gather(rows))
    units = (
        Units.of(block.feed_forward, settings.bias, settings.activation, settings.gate)
        if settings.feed_forward
        else None
    )
    for place in done:
        _rest(block.at(at(place)), vectors[place].flatten(0, 1), bias, settings.bias, units and units.at(at(place)))
    return vectors


def _alone(block: Block, rows: Tensor | None) -> Tensor:
    """(B,I,J,D) attention over positions that are their own sources, and the residual."""
    brought = head_vectors(block.attention, block.inputs)
    where = torch.arange(block.inputs.shape[1], device=brought.device)[None] if rows is None else rows  # (1 or B,I)
    block = block if rows is None else block.at(_gather(rows))
    return add_own(weighted(block.attention.probabilities, brought), block.inputs, where)


def _mixed(attention: Attention, rows: Tensor | None, vectors: Tensor, brought: Tensor) -> Iterator[Place]:
    """Add attention over decomposed values to X (B,I,J,D): mixed for many rows at a time, projected for a few."""
    probabilities = attention.probabilities if rows is None else _gather(rows)(attention.probabilities)
    for examples, many in places(vectors, MIXED):
        mixed = mix(probabilities[examples, many], brought[:, examples])
        for inner, few in places(mixed, CACHED):
            place = _inside(examples, inner), _inside(many, few)
            side_by_side = mixed[inner, few].flatten(3).flatten(0, 2)  # (R J, H d)
            vectors[place].flatten(0, 2).addmm_(side_by_side, attention.output.weight.T)
            yield place


def _rest(block: Block, vectors: Tensor, bias: Tensor | None, bias_rule: BiasRule | None, units: Units | None) -> None:
    """What follows attention and its residual in a block, at some rows (R,J,D), in place."""
    share(vectors, bias, bias_rule)
    after, layer = block.attention.after, block.feed_forward
    if after is not None:
        normalise(vectors, after, bias_rule)
    if units is not None:
        vectors.add_(units(vectors if layer.before is None else normalise(vectors, layer.before, bias_rule, keep=True)))
    if layer.after is not None:
        normalise(vectors, layer.after, bias_rule)


def normalise(vectors: Tensor, norm: Norm, bias_rule: BiasRule | None, *, keep: bool = False) -> Tensor:
    """gain * (X_ij - mean X_ij) / spread_i, the spread of the whole state; shift shared. In place unless `keep`."""
    factors = (norm.inverse * norm.gain).unsqueeze(1)  # (R,1,D)
    if norm.centred:
        mean = vectors.mean(-1, keepdim=True)
        vectors = (vectors - mean if keep else vectors.sub_(mean)).mul_(factors)
    else:
        vectors = vectors * factors if keep else vectors.mul_(factors)
    return share(vectors, norm.shift, bias_rule)


# --- the whole network -------------------------------------------------------------------------------------------


def diagonal(hidden: Tensor, *, extra: bool = False) -> Tensor:
    """(B,T,D) -> (B,T,T,D): each position is its own source; `extra` adds the source that collects biases."""
    vectors = hidden.new_zeros(*hidden.shape[:2], hidden.shape[1] + extra, hidden.shape[2])
    index = torch.arange(hidden.shape[1], device=hidden.device)
    vectors[:, index, index] = hidden
    return vectors


def through_blocks(trace: Trace, settings: DecompositionSettings, *, last: bool = False) -> Iterator[Tensor]:
    """X after each block, (B,T,J,D); the next step overwrites it. `last`: of the last block, only the row read."""
    vectors = None
    for number, block in enumerate(trace.blocks, 1):
        rows = read_position(trace.head) if last and number == len(trace.blocks) else None
        vectors = through_block(block, vectors, settings, rows)
        yield vectors


def class_vectors(trace: Trace, settings: DecompositionSettings) -> Tensor:
    """(B,J,C): contributions of sources to the class outputs; they sum to the logits."""
    vectors = torch.empty(0)
    for vectors in through_blocks(trace, settings, last=True):  # noqa: B007
        pass
    return through_head(trace.head, vectors, settings)


def through_head(head: Head, vectors: Tensor, settings: DecompositionSettings) -> Tensor:
    """(B,I,J,D) -> (B,J,C)"""
    rows, pool = read_position(head), head.pool
    if head.norm is not None:
        norm = head.norm if rows is None else head.norm.at(_gather(rows))
        whole = at((slice(None), slice(None)))
        vectors = normalise(whole(vectors), norm.at(whole), settings.bias).view(vectors.shape)
    pool = pool if rows is None else pool.gather(2, rows.unsqueeze(1))
    pooled = torch.einsum("bki,bijd->bjkd", pool, vectors).flatten(2)  # (B,J,K D)
    if isinstance(head.layer, FeedForward):
        return Units.of(head.layer, settings.bias, settings.activation).at(lambda t: t.squeeze(1))(pooled)
    return share(project(pooled, head.layer.weight), head.layer.bias, settings.bias)


def read_position(head: Head) -> Tensor | None:
    """(B,1) the position that the head reads; None where it reads a mean."""
    return head.pool.argmax(-1) if head.pool.shape[1] == 1 and bool((head.pool.max(-1).values == 1).all()) else None


def block_norms(trace: Trace, settings: DecompositionSettings) -> list[Tensor]:
    """Per block (B,T,T): |X_ij| with each position its own source; rows of padding are 0. For rollout."""
    real = trace.mask.unsqueeze(-1)
    return [lengths(through_block(block, None, settings)) * real for block in trace.blocks]


# --- places ------------------------------------------------------------------------------------------------------

Place = tuple[slice, slice]  # several whole inputs of a batch, or some rows of one: contiguous in any tensor (B,T,...)


def places(tensor: Tensor, vectors: int) -> Iterator[Place]:
    """All rows of a tensor (B,I,J,...), in parts of about `vectors` pairs (i,j)."""
    batch, rows, sources = tensor.shape[:3]
    if rows * sources <= vectors:
        return ((some, slice(0, rows)) for some in slices(batch, vectors // (rows * sources)))
    one_by_one = slices(batch, 1)
    return ((one, some) for one in one_by_one for some in slices(rows, vectors // sources))


def at(place: Place) -> Select:
    """Of a tensor (B,T,...) the rows of a place (R,...)."""
    return lambda t: t[place].flatten(0, 1)


def slices(length: int, size: int) -> Iterator[slice]:
    """Consecutive parts of a length, of `size` (at least 1) each."""
    size = max(1, size)
    return (slice(start, min(start + size, length)) for start in range(0, length, size))


def _inside(outer: slice, inner: slice) -> slice:
    return slice(outer.start + inner.start, outer.start + inner.stop)


def _gather(rows: Tensor) -> Select:
    batch = torch.arange(len(rows), device=rows.device).unsqueeze(1)
    return lambda t: t[batch, rows]
