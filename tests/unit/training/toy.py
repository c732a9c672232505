"""A small regression to train: three inputs, dropout if asked for. Run as a script it trains until it is killed."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import mse_loss

from assay.training.history import History
from assay.training.loop import TrainingData, fit
from assay.training.recipe import Recipe

generator = torch.Generator().manual_seed(0)
X = torch.randn(40, 3, generator=generator, dtype=torch.float64)
Y = X @ torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64) + 0.3

KILLED = Recipe(epochs=30, batch_size=5, learning_rate=1e-2, validate_every=0.5, accumulation=2)


def linear() -> nn.Linear:
    model = nn.Linear(3, 1).double()
    with torch.no_grad():
        model.weight.copy_(torch.tensor([[0.1, 0.2, 0.3]]))
        model.bias.fill_(0.05)
    return model


def network() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Dropout(0.3), nn.LayerNorm(8), nn.Linear(8, 1)).double()


def batch(index: Sequence[int]) -> tuple[Tensor, Tensor]:
    return X[list(index)], Y[list(index)]


DATA = TrainingData(len(X), batch)


def loss(model: Any, items: tuple[Tensor, Tensor]) -> Tensor:
    return mse_loss(model(items[0]).squeeze(-1), items[1])


def validate(model: Any) -> dict[str, float]:
    with torch.no_grad():
        return {"loss": float(mse_loss(model(X).squeeze(-1), Y))}


def train(model: nn.Module, recipe: Recipe, **more: Any) -> History:
    return fit(model, DATA, more.pop("loss", loss), more.pop("validate", validate), recipe, **more)


def slow(model: Any, items: tuple[Tensor, Tensor]) -> Tensor:
    time.sleep(0.02)
    return loss(model, items)


if __name__ == "__main__":
    torch.set_num_threads(1)
    train(network(), KILLED, folder=Path(sys.argv[1]), save_seconds=0.0, loss=slow)
