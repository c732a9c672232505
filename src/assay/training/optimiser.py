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
    """Adam, AdamW or SGD over the parameters that want a gradient."""
    groups = parameter_groups(model, recipe)
    fused = recipe.fused and all(_can_fuse(p) for group in groups for p in group["params"])
    if recipe.optimiser == "sgd":
        return SGD(groups, lr=recipe.learning_rate, momentum=recipe.momentum, fused=fused)
    kind = AdamW if recipe.optimiser == "adamw" else Adam
    return kind(
        groups, lr=recipe.learning_rate, betas=recipe.betas, eps=recipe.epsilon, amsgrad=recipe.amsgrad, fused=fused
    )


def parameter_groups(model: nn.Module, recipe: Recipe) -> list[dict[str, Any]]:
    """Parameters by the first group that matches their name; `peak` is what the schedule scales."""
    named = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
    if not named:
        raise SpecError("no parameter of the model wants a gradient; call requires_grad_() on those to train")
    found: dict[Group | None, list[nn.Parameter]] = {group: [] for group in (*recipe.groups, None)}
    for name, parameter in named:
        found[_group(name, recipe)].append(parameter)
    for group, members in found.items():
        if group not in (None, NO_DECAY) and not members:
            raise SpecError(f"{group}: no parameter has such a name; the names end like {_some([n for n, _ in named])}")
    return [_settings(group, members, recipe) for group, members in found.items() if members]


def set_rate(optimiser: Optimizer, factor: float) -> None:
    """Every group's learning rate is its peak times the schedule's factor."""
    for group in optimiser.param_groups:
        group["lr"] = group["peak"] * factor


def _group(name: str, recipe: Recipe) -> Group | None:
    return next((group for group in recipe.groups if re.search(group.pattern, name, re.IGNORECASE)), None)


def _settings(group: Group | None, members: list[nn.Parameter], recipe: Recipe) -> dict[str, Any]:
    rate = group.learning_rate if group and group.learning_rate is not None else recipe.learning_rate
    decay = group.weight_decay if group and group.weight_decay is not None else recipe.weight_decay
    return {"params": members, "lr": rate, "peak": rate, "weight_decay": decay}


def _can_fuse(parameter: nn.Parameter) -> bool:
    return parameter.device.type in FUSED_ON and torch.is_floating_point(parameter)


def _some(names: list[str]) -> str:
    return ", ".join(names[-4:])
