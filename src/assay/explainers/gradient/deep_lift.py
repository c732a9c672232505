"""DeepLIFT's rescale rule on the activations of a transformer (Shrikumar et al. 2017)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from assay.core.types import Scores
from assay.explainers.gradient._baseline import baseline_embeddings
from assay.explainers.protocols import MethodFacts
from assay.models import hooks
from assay.models.encoding import Batch
from assay.models.model import Model
from assay.models.target import Targets


@dataclass(frozen=True)
class DeepLift:
    """score_i = <x_i - r_i, m_i>, m the gradient in which activations have slope (act(u) - act(u_r)) / (u - u_r).

    On a transformer, only elementwise activation modules (GELU, ReLU, SiLU, tanh) follow the rescale rule; softmax, the
    products of attention, norms and activations written inline keep their plain gradient at x.
    Weakness: complete for perceptrons, but not for transformers, where it is close to (x - r) times the gradient.
    """

    baseline: str | None = None
    facts: ClassVar[MethodFacts] = MethodFacts(
        scale="logit", signed=True, complete=False, class_dependent=True, passes="2 f + 1 b", memory="L x T x D"
    )

    def attribute(self, model: Model, batch: Batch, targets: Targets) -> Scores:
        reference = baseline_embeddings(model, batch, self.baseline)
        modules = hooks.activations(model.hf)
        records: dict[nn.Module, list[Tensor]] = {module: [] for module in modules}
        with _hooks(modules, lambda m: _record(records[m])), torch.no_grad():
            model.logits(replace(batch, embeddings=reference))
        with _hooks(modules, lambda m: _rescale(records[m])):
            multiplier, _, embeddings, logits = model.gradients(batch, targets, whole=True)
        return Scores((multiplier * (embeddings - reference)).sum(-1), logits=logits)


def _hooks(modules: list[nn.Module], make: Callable[[nn.Module], Callable[..., Any]]) -> ExitStack:
    stack = ExitStack()
    for module in modules:
        stack.enter_context(hooks.hooked(module, make(module)))
    return stack


def _record(into: list[Tensor]) -> Callable[..., None]:
    """Record a module's input at the baseline, once per call: some modules serve several layers."""

    def hook(module: nn.Module, args: tuple[Tensor, ...], output: Tensor) -> None:
        into.append(args[0].detach())

    return hook


def _rescale(recorded: list[Tensor]) -> Callable[..., Tensor]:
    """Same output, but with the slope of the chord from the baseline; the tangent where both inputs are equal.

    Chords are computed in float64: over a short step the float32 difference of two outputs is mostly rounding error.
    """
    calls = iter(recorded)

    def hook(module: nn.Module, args: tuple[Tensor, ...], output: Tensor) -> Tensor:
        u, here, there = args[0], args[0].detach().double(), next(calls).double()
        step = here - there
        flat = step.abs() < 1e-6
        chord = (module.forward(here) - module.forward(there)) / torch.where(flat, 1.0, step)
        straight = output.detach() + chord.to(u.dtype) * (u - u.detach())
        return torch.where(flat, output, straight)

    return hook
