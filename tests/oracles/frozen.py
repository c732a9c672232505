"""The frozen network by hooks on transformers' own forward pass: an oracle that shares no code with models/trace.py.

Attention probabilities are detached, norms divide by a detached spread, and activations become a detached ratio times
their input. The gradient of a logit with respect to the states that enter the first block is then that of the network
in which only the paths of values, residuals and linear layers are open.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import torch
from torch import Tensor, nn

from assay.models import hooks
from assay.models.encoding import Batch
from assay.models.model import Model

DENSE = ("classifier.dense", "classifier.out_proj")
HEADS = {  # whose activation is a plain function that no hook sees
    "roberta": DENSE,
    "xlm_roberta": DENSE,
    "mpnet": DENSE,
    "electra": DENSE,
    "deberta_v2": ("pooler.dense", "classifier"),
}
GATED = ("llama", "mistral")  # act(gate) is held, `up` carries the input


class Detached:
    """A tap that lets no gradient through attention probabilities."""

    def probabilities(self, layer: int, probabilities: Tensor) -> Tensor:
        return probabilities.detach()

    def values(self, layer: int, values: Tensor) -> Tensor:
        return values


def frozen_gradient(model: Model, batch: Batch, label: int) -> tuple[Tensor, Tensor]:
    """States that enter the first block (B,T,D), and the gradient of a logit with respect to them."""
    entered: list[Tensor] = []

    def enter(module: nn.Module, args: Any, output: Any) -> Any:
        """Make the output of what runs before the first block a leaf."""
        hidden = output[0] if isinstance(output, tuple) else output
        entered.append(hidden.detach().requires_grad_())
        return (entered[-1], *output[1:]) if isinstance(output, tuple) else entered[-1]

    gated = model.family.name in GATED or getattr(model.hf.config, "is_gated_act", False)
    with ExitStack() as stack:
        stack.enter_context(torch.enable_grad())
        stack.enter_context(hooks.hooked(first_states(model), enter))
        for module in model.hf.modules():
            if isinstance(module, nn.LayerNorm) or "RMSNorm" in type(module).__name__ or _is_t5(module):
                stack.enter_context(hooks.hooked(module, _norm))
        for module in hooks.activations(model.hf):
            stack.enter_context(hooks.hooked(module, _gate if gated else _activation))
        if model.family.name in HEADS:
            _straight_head(stack, *(model.hf.get_submodule(path) for path in HEADS[model.family.name]))
        logits = model.tapped(batch, Detached())
        (gradient,) = torch.autograd.grad(logits[:, label].sum(), entered[-1])
    return entered[-1].detach(), gradient


def in_float64(hf: nn.Module) -> nn.Module:
    """The network in true float64, in place: the RMS norms of transformers round to float32 in any precision."""
    hf.double()
    for name, module in list(hf.named_modules()):
        if "RMSNorm" in type(module).__name__ or _is_t5(module):
            norm = nn.RMSNorm(len(module.weight), eps=module.variance_epsilon, dtype=torch.float64)  # type: ignore[arg-type]
            norm.weight.data.copy_(module.weight.data)  # type: ignore[union-attr]
            hf.set_submodule(name, norm)
    return hf


def first_states(model: Model) -> nn.Module:
    """The module whose output enters the first block."""
    paths = {
        "bert": "bert.embeddings",
        "roberta": "roberta.embeddings",
        "xlm_roberta": "roberta.embeddings",
        "distilbert": "distilbert.embeddings",
        "electra": "electra.embeddings_project",
        "mpnet": "mpnet.embeddings",
        "deberta_v2": "deberta.embeddings",
        "gpt2": "transformer.drop",
        "t5": "encoder.embed_tokens",
        "llama": "model.embed_tokens",
        "mistral": "model.embed_tokens",
        "vit": "vit.embeddings",
        "dinov2": "dinov2.embeddings",
    }
    return model.hf.get_submodule(paths[model.family.name])


def _straight_head(stack: ExitStack, first: nn.Module, last: nn.Module) -> None:
    seen: list[Tensor] = []

    def remember(module: nn.Module, args: Any, output: Tensor) -> None:
        seen.append(output)

    def straight(module: Any, args: tuple[Tensor, ...], output: Tensor) -> Tensor:
        u = seen[-1]
        return nn.functional.linear(u * (args[0] / u).detach(), module.weight, module.bias)

    stack.enter_context(hooks.hooked(first, remember))
    stack.enter_context(hooks.hooked(last, straight))


def _is_t5(module: nn.Module) -> bool:
    return type(module).__name__ == "T5LayerNorm"


def _norm(module: Any, args: tuple[Tensor, ...], output: Tensor) -> Tensor:
    x = args[0]
    centred = x - x.mean(-1, keepdim=True) if isinstance(module, nn.LayerNorm) else x
    eps = getattr(module, "eps", None) or getattr(module, "variance_epsilon", None)
    spread = (centred.square().mean(-1, keepdim=True) + eps).sqrt().detach()
    out: Tensor = module.weight * centred / spread
    return out if getattr(module, "bias", None) is None else out + module.bias


def _gate(module: nn.Module, args: tuple[Tensor, ...], output: Tensor) -> Tensor:
    return output.detach()


def _activation(module: nn.Module, args: tuple[Tensor, ...], output: Tensor) -> Tensor:
    u = args[0]
    return u * torch.where(u == 0, 0.0, output / torch.where(u == 0, 1.0, u)).detach()
