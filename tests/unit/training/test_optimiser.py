"""Whole trainings against literal versions of the update rules, written out with numpy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from assay.core.errors import SpecError
from assay.training.batching import epoch_batches
from assay.training.optimiser import make_optimiser, parameter_groups
from assay.training.recipe import NO_DECAY, Group, Recipe
from assay.training.schedule import rate_factor
from unit.training.toy import X, Y, linear, train

Floats = np.ndarray[Any, np.dtype[np.float64]]
Update = Callable[[Floats, Floats, int, float, Floats], Floats]  # weights, gradient, step, rate, decay -> weights


def literal(recipe: Recipe, update: Update, decay: tuple[float, float]) -> Floats:
    """Three weights and a bias; the gradient of the mean squared error by hand."""
    theta = np.array([0.1, 0.2, 0.3, 0.05], np.float32).astype(np.float64)
    theta[3] = 0.05
    design = np.hstack([X.numpy(), np.ones((len(X), 1))])
    decays = np.array([decay[0]] * 3 + [decay[1]])
    batches = [b for e in range(recipe.epochs) for b in epoch_batches(len(X), recipe.batch_size, " 0", e)]
    for step, batch in enumerate(batches):
        rows, gold = design[batch], Y.numpy()[batch]
        gradient = 2 * rows.T @ (rows @ theta - gold) / len(batch)
        if recipe.clip is not None:
            gradient *= min(1.0, recipe.clip / (np.linalg.norm(gradient) + 1e-6))
        rate = recipe.learning_rate * rate_factor(recipe, step, len(batches))
        theta = update(theta, gradient, step + 1, rate, decays)
    return theta


def adam(*, decoupled: bool, amsgrad: bool, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8) -> Update:
    m, v, top = np.zeros(4), np.zeros(4), np.zeros(4)

    def update(theta: Floats, g: Floats, t: int, rate: float, decay: Floats) -> Floats:
        nonlocal m, v, top
        if decoupled:
            theta = theta - rate * decay * theta
        else:
            g = g + decay * theta
        m, v = betas[0] * m + (1 - betas[0]) * g, betas[1] * v + (1 - betas[1]) * g**2
        top = np.maximum(top, v)
        second = (top if amsgrad else v) / (1 - betas[1] ** t)
        return theta - rate * (m / (1 - betas[0] ** t)) / (np.sqrt(second) + eps)

    return update


def sgd(momentum: float) -> Update:
    velocity = np.zeros(4)

    def update(theta: Floats, g: Floats, t: int, rate: float, decay: Floats) -> Floats:
        nonlocal velocity
        velocity = momentum * velocity + g + decay * theta
        return theta - rate * velocity

    return update


CASES: dict[str, tuple[Recipe, Callable[[], Update]]] = {
    "adamw": (
        Recipe(learning_rate=0.05, betas=(0.9, 0.98)),
        lambda: adam(decoupled=True, amsgrad=False, betas=(0.9, 0.98)),
    ),
    "adamw, cosine": (
        Recipe(learning_rate=0.05, schedule="cosine"),
        lambda: adam(decoupled=True, amsgrad=False),
    ),
    "adam, amsgrad": (
        Recipe(learning_rate=0.05, optimiser="adam", amsgrad=True, schedule="constant", warmup=0.0, clip=None),
        lambda: adam(decoupled=False, amsgrad=True),
    ),
    "sgd": (Recipe(learning_rate=0.05, optimiser="sgd", clip=5.0), lambda: sgd(0.0)),
    "sgd, momentum, clipped": (
        Recipe(learning_rate=0.02, optimiser="sgd", momentum=0.9, clip=0.1),
        lambda: sgd(0.9),
    ),
}


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_a_training_is_its_formula(name: str, fused: bool) -> None:
    recipe, rule = CASES[name]
    recipe = replace(recipe, epochs=3, batch_size=7, weight_decay=0.1, groups=(NO_DECAY,), fused=fused)
    model = linear()
    train(model, recipe, validate=None)
    found = torch.cat([model.weight.detach().flatten(), model.bias.detach()]).numpy()
    assert found == pytest.approx(literal(recipe, rule(), (0.1, 0.0)), abs=1e-9)


def test_groups_by_name_the_first_counts() -> None:
    model = nn.ModuleDict({"embeddings": nn.Embedding(5, 4), "encoder": nn.LayerNorm(4), "head": nn.Linear(4, 2)})
    groups = (Group("^HEAD", learning_rate=1e-2), NO_DECAY, Group("embed", learning_rate=0.0, weight_decay=0.3))
    made = make_optimiser(model, Recipe(learning_rate=1e-3, weight_decay=0.1, groups=groups)).param_groups
    found = [(g["peak"], g["weight_decay"], len(g["params"])) for g in made]
    assert found == [(1e-2, 0.1, 2), (1e-3, 0.0, 1), (0.0, 0.3, 1), (1e-3, 0.1, 1)]


def test_no_decay_knows_the_norms_of_every_family() -> None:
    names = ("LayerNorm.weight", "ln_1.weight", "h.0.ln_f.weight", "input_layernorm.weight", "norm1.weight", "q.bias")
    model = nn.ParameterDict({name.replace(".", "/"): nn.Parameter(torch.zeros(2)) for name in names})
    model["dense/weight"] = nn.Parameter(torch.zeros(2))
    made = parameter_groups(_Dotted(model), Recipe(groups=(NO_DECAY,)))
    assert [(g["weight_decay"], len(g["params"])) for g in made] == [(0.0, len(names)), (0.01, 1)]


class _Dotted(nn.Module):
    """Parameters under the names that modules would give them."""

    def __init__(self, parameters: nn.ParameterDict) -> None:
        super().__init__()
        self.all = parameters

    def named_parameters(self, *args: Any, **more: Any) -> Any:
        return [(name.replace("/", "."), p) for name, p in self.all.items()]


def test_a_frozen_parameter_is_left_alone() -> None:
    model = linear()
    model.weight.requires_grad_(False)
    before = model.weight.clone()
    train(model, Recipe(groups=()))
    assert torch.equal(model.weight, before)
    assert model.bias.item() != 0.05


def test_mistakes_are_sentences() -> None:
    with pytest.raises(SpecError, match="matches no parameter"):
        make_optimiser(linear(), Recipe(groups=(Group("attention"),)))
    with pytest.raises(SpecError, match="requires a gradient"):
        make_optimiser(linear().requires_grad_(False), Recipe())
