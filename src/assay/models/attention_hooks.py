"""Reading and changing the attention of Hugging Face models, through transformers' registry of attention functions.

Families that compute attention themselves are hooked at the dropout of the probabilities and at the value projection.
As in `hooks.py`, the model is afterwards as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from transformers import AttentionInterface, PreTrainedModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import AttentionMaskInterface, eager_mask, sdpa_mask

from assay.core.errors import UnsupportedError
from assay.models.families import Family
from assay.models.hooks import blocks, hooked

TAP, READ = "assay_tap", "assay_read"  # our names in transformers' registry of attention functions


class Tap(Protocol):
    """Reads, and may replace, attention probabilities and values; T is the second-to-last axis of both."""

    def probabilities(self, layer: int, probabilities: Tensor) -> Tensor:  # (B,H,T,T), rows are queries
        ...

    def values(self, layer: int, values: Tensor) -> Tensor:  # (B,H,T,D/H) or (B,T,D)
        ...


class Reader(Protocol):
    """Reads what attention is computed from; the model keeps its fast kernels, its dropout and its graph."""

    def products(self, layer: int, products: Products) -> None: ...

    def probabilities(self, layer: int, probabilities: Tensor) -> None:
        """(B,H,T,T) before dropout, of families that compute attention themselves."""


@dataclass(frozen=True)
class Products:
    """Attention logits before the mask, as factors: scaling * query · key + bias."""

    query: Tensor  # (B,H,T,d)
    key: Tensor  # (B,H,T,d)
    scaling: float
    bias: Tensor | None  # (1 or B,H,T,T): T5's position bias
    causal: bool  # a position attends only to itself and those before it
    window: int | None  # and of these only to the last ones


@contextmanager
def attention(hf: PreTrainedModel, family: Family, tap: Tap) -> Iterator[None]:
    """Let `tap` read the attention of every layer."""
    with _hooked_attention(hf, family, tap) if family.probabilities else _registered_attention(hf, TAP, tap):
        yield


@contextmanager
def reading(hf: PreTrainedModel, family: Family, reader: Reader) -> Iterator[None]:
    """Let `reader` see the queries and keys of every layer, or its probabilities where a family shows only those."""
    with _hooked_reader(hf, family, reader) if family.probabilities else _registered_attention(hf, READ, reader):
        yield


@contextmanager
def _hooked_reader(hf: PreTrainedModel, family: Family, reader: Reader) -> Iterator[None]:
    def hook(layer: int) -> Callable[..., None]:
        return lambda module, args: reader.probabilities(layer, args[0])

    with ExitStack() as stack:
        for layer, block in enumerate(blocks(hf)):
            dropout = block.get_submodule(family.probabilities)
            stack.callback(dropout.register_forward_pre_hook(hook(layer)).remove)
        yield


@contextmanager
def _hooked_attention(hf: PreTrainedModel, family: Family, tap: Tap) -> Iterator[None]:
    with ExitStack() as stack:
        for layer, block in enumerate(blocks(hf)):
            hook = _output_hook(tap.probabilities, layer)
            stack.enter_context(hooked(block.get_submodule(family.probabilities), hook))
            stack.enter_context(hooked(block.get_submodule(family.value), _output_hook(tap.values, layer)))
        yield


def _output_hook(change: Callable[[int, Tensor], Tensor], layer: int) -> Callable[..., Tensor]:
    return lambda module, args, output: change(layer, output)


@dataclass(frozen=True)
class _Active:
    """The current tap or reader, and the layer of each module inside a block (some attentions have no index)."""

    tap: Any
    layer_of: dict[int, int]


_active: ContextVar[_Active | None] = ContextVar("assay_active_tap", default=None)


@contextmanager
def _registered_attention(hf: PreTrainedModel, name: str, tap: Tap | Reader) -> Iterator[None]:
    if not type(hf)._can_set_attn_implementation():
        raise UnsupportedError(
            f"{type(hf).__name__} computes attention in its own code, and Assay has no family file for it; "
            "use a gradient or perturbation method, or add the family"
        )
    layer_of = {id(m): layer for layer, block in enumerate(blocks(hf)) for m in block.modules()}
    before = hf.config._attn_implementation
    token = _active.set(_Active(tap, layer_of))
    try:
        hf.set_attn_implementation(name)
        yield
    finally:
        hf.set_attn_implementation(before)
        _active.reset(token)


def _tapped_attention(
    module: nn.Module,
    query: Tensor,  # (B,H,T,d)
    key: Tensor,  # (B,G,T,d), G key/value heads
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    position_bias: Tensor | None = None,  # T5
    **kwargs: Any,
) -> tuple[Tensor, Tensor]:
    """Plain softmax attention that passes its probabilities and values through the active tap."""
    active = _current()
    layer = active.layer_of[id(module)]
    scores = query @ _per_head(key, query).transpose(-1, -2) * (query.shape[-1] ** -0.5 if scaling is None else scaling)
    for bias in (position_bias, attention_mask):
        scores = scores if bias is None else scores + bias[..., : scores.shape[-1]]
    # float32 or wider: the lowest float64 of a mask is -inf in float32, and a row of only -inf gives NaN
    scores = scores if scores.dtype == torch.float64 else scores.float()
    probabilities = active.tap.probabilities(layer, scores.softmax(-1).to(query.dtype))
    output = probabilities @ _per_head(active.tap.values(layer, value), query)
    return output.transpose(1, 2).contiguous(), probabilities


def _read_attention(
    module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None, **kwargs: Any
) -> tuple[Tensor, None]:
    """The attention of transformers, after the active reader saw its factors."""
    if kwargs.get("softcap") is not None:
        raise UnsupportedError(f"{type(module).__name__} caps its attention logits, which Assay cannot read")
    active, scaling = _current(), kwargs.get("scaling")
    causal = kwargs.get("is_causal")
    products = Products(
        query,
        _per_head(key, query),
        query.shape[-1] ** -0.5 if scaling is None else scaling,
        kwargs.get("position_bias"),
        bool(getattr(module, "is_causal", False) if causal is None else causal),
        kwargs.get("sliding_window"),
    )
    active.tap.products(active.layer_of[id(module)], products)
    return sdpa_attention_forward(module, query, key, value, attention_mask, **kwargs)


def _current() -> _Active:
    if (active := _active.get()) is None:
        raise RuntimeError(f"the attentions {TAP!r} and {READ!r} work only inside Assay's context managers")
    return active


def _per_head(tensor: Tensor, query: Tensor) -> Tensor:
    """Repeat key/value heads where several query heads share one."""
    groups = query.shape[1] // tensor.shape[1]
    return tensor if groups == 1 else tensor.repeat_interleave(groups, dim=1)


AttentionInterface.register(TAP, _tapped_attention)
AttentionInterface.register(READ, _read_attention)
AttentionMaskInterface.register(TAP, eager_mask)  # without its own mask function the padding mask is silently dropped
AttentionMaskInterface.register(READ, sdpa_mask)
