"""With `attention_hooks.py`, the only file that accesses the internals of Hugging Face models.

Everything here is a context manager or a pure look-up: afterwards, even after an exception, the model is bit-identical
and has no hooks. Embeddings go through a forward hook on the look-up module; no class is patched and no modelling code
is copied.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from transformers import PreTrainedModel
from transformers.modeling_layers import GenericForSequenceClassification
from transformers.pytorch_utils import Conv1D
from transformers.utils import logging

from assay.core.errors import UnsupportedError
from assay.models.exclusive import PROCESS
from assay.models.families import Family

# --- finding modules ---------------------------------------------------------------------------------------------


def word_module(hf: PreTrainedModel, family: Family) -> nn.Module:
    """The embedding look-up, or the patch projection of an image model."""
    base: Any = hf.base_model
    module: nn.Module = hf.get_submodule(family.word) if family.word else base.get_input_embeddings()
    return module


def word_table(hf: PreTrainedModel, family: Family) -> Tensor:
    """(V,D) the word embeddings of the vocabulary; images have none."""
    module: Any = word_module(hf, family)
    module = getattr(module, "base_layer", module)  # PEFT
    if family.images or not isinstance(getattr(module, "weight", None), Tensor):
        raise UnsupportedError(f"{type(hf).__name__} has no vocabulary of word embeddings to take a norm over")
    table: Tensor = module.weight
    return table


def blocks(hf: PreTrainedModel) -> list[nn.Module]:
    """The transformer blocks in order: the module list with as many members as the model has layers."""
    layers = hf.config.get_text_config().num_hidden_layers
    lists = [m for m in hf.base_model.modules() if isinstance(m, nn.ModuleList) and len(m) == layers]
    if not lists:
        raise UnsupportedError(f"{type(hf).__name__}: no list of {layers} blocks found in its structure")
    return list(lists[0])


def heads_per_block(hf: PreTrainedModel) -> int:
    """The number of attention heads of each block; a BiLSTM's attention is one."""
    return int(getattr(hf.config.get_text_config(), "num_attention_heads", 1))


def need_blocks(hf: PreTrainedModel, family: Family) -> None:
    """Raise if the model has no transformer blocks."""
    if family.recurrent:
        raise UnsupportedError(
            f"{type(hf).__name__} is not a transformer and has no blocks; use average_attention, a gradient or a "
            "perturbation method"
        )


def activations(hf: PreTrainedModel) -> list[nn.Module]:
    """Elementwise activation modules (GELU, ReLU, SiLU, tanh, ...), found by the modules that define them."""
    homes = ("transformers.activations", "torch.nn.modules.activation")
    leaves = [m for m in hf.modules() if next(m.children(), None) is None and next(m.parameters(), None) is None]
    return [m for m in leaves if type(m).__module__ in homes and not isinstance(m, nn.Softmax)]


def layers(roots: Iterable[nn.Module]) -> Iterator[tuple[nn.Module, str]]:
    """Layers with weights that hidden states pass: L linear (including adapters), N norm, S elementwise scale."""
    for root in roots:
        kind = _kind(root)
        if kind:
            yield root, kind
        else:
            yield from layers(root.children())


def _kind(module: nn.Module) -> str:
    sizes = [p.dim() for p in module.parameters(recurse=False)]
    if hasattr(module, "base_layer"):  # PEFT
        return "L"
    if isinstance(module, nn.Embedding) or next(module.children(), None) is not None or not sizes:
        return ""
    if max(sizes) == 2:
        return "L"
    return "" if max(sizes) > 2 else "N" if "norm" in type(module).__name__.lower() else "S" if sizes == [1] else ""


def affine(module: nn.Module) -> tuple[Tensor, Tensor | None]:
    """Weight (out, in) and bias of a linear layer; unknown kinds (adapters, quantised) are probed with unit vectors."""
    if type(module) is nn.Linear:
        return module.weight, module.bias
    if isinstance(module, Conv1D):
        return module.weight.T, module.bias
    width, like = _width(module), next(p for p in module.parameters() if p.is_floating_point())
    with torch.no_grad():
        zero: Tensor = module(like.new_zeros(1, width))
        weight: Tensor = (module(torch.eye(width, dtype=like.dtype, device=like.device)) - zero).T
    return weight, zero[0]


def _width(module: Any) -> int:
    width: int = module.in_features
    return width


def scale(module: nn.Module) -> Tensor:
    """(D,) factors of an elementwise scale."""
    return next(module.parameters())


def norm(module: Any) -> tuple[Tensor, Tensor | None, bool]:
    """Gain, shift, and whether the mean is subtracted first."""
    centred = isinstance(module, nn.LayerNorm)
    return module.weight, getattr(module, "bias", None), centred


def accepts(hf: nn.Module, argument: str) -> bool:
    return argument in inspect.signature(hf.forward).parameters


def reads_last_token(hf: PreTrainedModel) -> bool:
    """Whether the classifier in transformers reads the last token, as in causal models."""
    return isinstance(hf, GenericForSequenceClassification) or type(hf).__name__ == "GPT2ForSequenceClassification"


def length_counts(hf: PreTrainedModel) -> bool:
    """Whether the norm of a word embedding matters; not if it goes straight into a layer norm (DeBERTa v2 and v3)."""
    config = hf.config
    return bool(getattr(config, "position_biased_input", True) or getattr(config, "type_vocab_size", 0))


def unwrap_peft(model: Any) -> Any:
    """The transformers model inside a PEFT wrapper; its adapter layers stay in place."""
    if not hasattr(model, "peft_config"):
        return model
    if not hasattr(model, "get_base_model"):
        return model  # adapters loaded by transformers itself: already inside
    if any(config.is_prompt_learning for config in model.peft_config.values()):
        raise UnsupportedError("prompt-learning adapters add positions that belong to no text; use LoRA instead")
    return model.get_base_model()


def image_processor() -> Any:
    """AutoImageProcessor from its file: the name that transformers 5.10 exports wants torchvision."""
    from transformers.models.auto.image_processing_auto import AutoImageProcessor

    return AutoImageProcessor


# --- contexts ----------------------------------------------------------------------------------------------------


@contextmanager
def quiet() -> Iterator[None]:
    """Load or save a model without progress bars; transformers does neither in two threads at once."""
    with PROCESS:
        shown = logging.is_progress_bar_enabled()
        logging.disable_progress_bar()
        try:
            yield
        finally:
            if shown:
                logging.enable_progress_bar()


@contextmanager
def frozen(*parts: nn.Module) -> Iterator[None]:
    """Evaluation mode without parameter gradients; restores every flag afterwards."""
    training = [m for part in parts for m in part.modules() if m.training]
    trainable = [p for part in parts for p in part.parameters() if p.requires_grad]
    try:
        for module in training:
            module.training = False
        for parameter in trainable:
            parameter.requires_grad_(False)
        yield
    finally:
        for module in training:
            module.training = True
        for parameter in trainable:
            parameter.requires_grad_(True)


@contextmanager
def hooked(module: nn.Module, hook: Callable[..., Any]) -> Iterator[None]:
    """A forward hook for the duration of the context."""
    handle = module.register_forward_hook(hook)
    try:
        yield
    finally:
        handle.remove()


@contextmanager
def twice_differentiable() -> Iterator[None]:
    """Use plain attention and LSTM kernels: the fused ones have no second derivative."""
    with PROCESS:
        fused = torch.backends.mkldnn.enabled  # its own context manager also sets TF32, with a warning
        torch.backends.mkldnn.enabled = False  # type: ignore[assignment]
        try:
            with sdpa_kernel(SDPBackend.MATH):
                yield
        finally:
            torch.backends.mkldnn.enabled = fused


@contextmanager
def word_embeddings(hf: PreTrainedModel, family: Family, embeddings: Tensor) -> Iterator[None]:
    """Make the look-up return `embeddings` (B,T,D); pooling and masks still see the real ids.

    A look-up of fewer positions gets the last ones: those before are a class token, or a prefix that was read already.
    """

    def replaced(module: nn.Module, args: Any, output: Tensor) -> Tensor:
        return embeddings[:, embeddings.shape[1] - output.shape[1] :].to(output.dtype)

    with hooked(word_module(hf, family), replaced):
        yield


@contextmanager
def block_states(hf: PreTrainedModel) -> Iterator[list[Tensor]]:
    """A list that a forward pass fills with the states (B,T,D) before the first block and after each block."""
    states: list[Tensor] = []

    def before(module: nn.Module, args: Any, kwargs: Any) -> None:
        states.append(args[0] if args else kwargs["hidden_states"])

    with ExitStack() as stack:
        stack.callback(blocks(hf)[0].register_forward_pre_hook(before, with_kwargs=True).remove)
        for block in blocks(hf):
            stack.enter_context(hooked(block, lambda module, args, output: states.append(_states(output))))
        yield states


@contextmanager
def highest_states(hf: PreTrainedModel, family: Family, mask: Tensor) -> Iterator[list[Tensor]]:
    """A list that a forward pass fills with the (B,D) maximum of each layer's states over the positions in `mask`."""
    layers_seen: list[Tensor] = []

    def record(module: nn.Module, args: Any, output: Any) -> None:
        states, used = _states(output), mask > 0
        if family.recurrent:  # of a pair, only the first text
            used = torch.arange(states.shape[1], device=states.device) < args[1].unsqueeze(1)
        layers_seen.append(states.detach().masked_fill(~used.unsqueeze(-1), -torch.inf).amax(1))

    with ExitStack() as stack:
        for module in [hf.get_submodule("encoder")] if family.recurrent else blocks(hf):
            stack.enter_context(hooked(module, record))
        yield layers_seen


def _states(output: Any) -> Tensor:
    """The hidden states among what a block returns."""
    return output if isinstance(output, Tensor) else output[0]


# --- replacing weights -------------------------------------------------------------------------------------------

Weights = Mapping[int, Mapping[str, Tensor]]  # block -> name within the block -> tensor


@torch.no_grad()
def reinitialised(hf: PreTrainedModel, layer: int, seed: int) -> dict[str, Tensor]:
    """The parameters of one block, re-initialised by the `_init_weights` of its architecture.

    Done on the CPU in float32, so that a seed gives the same weights on every device and in every precision, and on a
    copy: loaded parameters carry a flag that makes transformers skip them, and copies lose it.
    """
    block = blocks(hf)[layer]
    if not all(p.is_floating_point() for p in block.parameters()):
        raise UnsupportedError(
            f"{type(hf).__name__} has quantised weights, which cannot be re-initialised; load it without quantisation"
        )
    duplicate = copy.deepcopy(block).to("cpu", torch.float32)
    with PROCESS, torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        base: Any = hf.base_model
        duplicate.apply(base._init_weights)  # children first, as transformers does
    initial = dict(duplicate.named_parameters())
    return {name: initial[name].detach().to(p.device, p.dtype) for name, p in block.named_parameters()}


@contextmanager
def block_weights(hf: PreTrainedModel, weights: Weights) -> Iterator[None]:
    """Replace the weights of some blocks; afterwards every parameter holds its original tensor."""
    modules = blocks(hf)
    parameters = {(i, n): p for i in weights for n, p in modules[i].named_parameters() if n in weights[i]}
    before = {key: p.data for key, p in parameters.items()}
    try:
        for (layer, name), parameter in parameters.items():
            parameter.data = weights[layer][name]
        yield
    finally:
        for key, parameter in parameters.items():
            parameter.data = before[key]
