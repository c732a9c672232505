"""The optimiser of a recipe, with its parameter groups."""

from __future__ import annotations

import re
from typing import Any

import torch
from torch import nn
from torch.optim import SGD, Adam, AdamW, Optimizer

from assay.core.errors import SpecError
from assay.training.recipe import NO_DECAY, Group, Recipe

FUSED_ON = ("cpu", "cuda")


def make_optimiser(model: nn.Module, recipe: Recipe) -> Optimizer:
    """Adam, AdamW or SGD over the parameters with requires_grad."""
    groups = parameter_groups(model, recipe)
    fused = recipe.fused and all(_can_fuse(p) for group in groups for p in group["params"])
    if recipe.optimiser == "sgd":
        return SGD(groups, lr=recipe.learning_rate, momentum=recipe.momentum, fused=fused)
    optimiser = AdamW if recipe.optimiser == "adamw" else Adam
    return optimiser(
        groups, lr=recipe.learning_rate, betas=recipe.betas, eps=recipe.epsilon, amsgrad=recipe.amsgrad, fused=fused
    )


def parameter_groups(model: nn.Module, recipe: Recipe) -> list[dict[str, Any]]:
    """Assign each parameter to the first group that matches its name; the schedule scales `peak`."""
    named = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
    if not named:
        raise SpecError("no parameter of the model requires a gradient; call requires_grad_() on those to train")
    members: dict[Group | None, list[nn.Parameter]] = {group: [] for group in (*recipe.groups, None)}
    for name, parameter in named:
        members[_group(name, recipe)].append(parameter)
    for group, parameters in members.items():
        if group not in (None, NO_DECAY) and not parameters:
            names = ", ".join(name for name, _ in named[-4:])
            raise SpecError(f"{group}: the pattern matches no parameter; the last parameters are {names}")
    return [_settings(group, parameters, recipe) for group, parameters in members.items() if parameters]


def set_rate(optimiser: Optimizer, factor: float) -> None:
    """Set every group's learning rate to its peak times `factor`."""
    for group in optimiser.param_groups:
        group["lr"] = group["peak"] * factor


def _group(name: str, recipe: Recipe) -> Group | None:
    return next((group for group in recipe.groups if re.search(group.pattern, name, re.IGNORECASE)), None)


def _settings(group: Group | None, parameters: list[nn.Parameter], recipe: Recipe) -> dict[str, Any]:
    rate = group.learning_rate if group and group.learning_rate is not None else recipe.learning_rate
    decay = group.weight_decay if group and group.weight_decay is not None else recipe.weight_decay
    return {"params": parameters, "lr": rate, "peak": rate, "weight_decay": decay}


def _can_fuse(parameter: nn.Parameter) -> bool:
    return parameter.device.type in FUSED_ON and torch.is_floating_point(parameter)
