"""Refining the mask of each text by gradient steps, and choosing one of the steps."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from assay.explainers.learned.parts.soft_mask import MaskedBatch, MaskingLoss
from assay.faithfulness.criterion import Criterion
from assay.faithfulness.protocol import descending_order
from assay.masking.units import unit_scores
from assay.models.encoding import Batch
from assay.models.model import Model
from assay.models.target import Targets

Selection = Literal["last", "loss", "oracle"]
FUSED_ON = ("cpu", "cuda")
TUNED_WEIGHTS = 50_000_000  # in all copies together; the optimiser needs four numbers for each


@dataclass(frozen=True)
class MaskPath:
    """The maps (B,T) of mask logits before, between and after the steps, with the loss (B,) of each where known."""

    maps: list[Tensor]
    losses: list[Tensor]

    def last(self) -> Tensor:
        return self.maps[-1]

    def of(self, index: Tensor) -> Tensor:
        """(B,T) for each input the map of its own step."""
        stacked = torch.stack(self.maps)
        return stacked[index.to(stacked.device), torch.arange(stacked.shape[1], device=stacked.device)]


@dataclass(frozen=True)
class Descent:
    """How a mask is refined."""

    loss: MaskingLoss
    steps: int
    rate: float
    score_last: bool = False  # the loss of the last map is needed too


def logit_path(inputs: MaskedBatch, start: Tensor, descent: Descent) -> MaskPath:
    """Adam on the mask logits themselves; inputs do not influence each other, so they run as one batch."""
    logits = nn.Parameter(start.detach().clone())
    return _path(inputs, lambda: logits, [logits], descent)


def weight_path(
    inputs: MaskedBatch,
    attributor: nn.Module,
    logits_of: Callable[[Sequence[nn.Module]], Tensor],
    trained: Callable[[str], bool],
    descent: Descent,
) -> MaskPath:
    """Adam on copies, one for each input, of those weights of the attribution model whose names are `trained`.

    The explained model runs all inputs at once: no weight belongs to two of them, so they stay independent.
    """
    copies = [_own_copy(attributor, trained) for _ in range(len(inputs.batch))]
    parameters = [p for own in copies for name, p in own.named_parameters() if trained(name)]
    return _path(inputs, lambda: logits_of(copies), parameters, descent)


def copies_at_once(attributor: nn.Module, trained: Callable[[str], bool]) -> int:
    """How many inputs may have copies of the trained weights at the same time."""
    size = sum(p.numel() for name, p in attributor.named_parameters() if trained(name))
    return max(1, TUNED_WEIGHTS // max(size, 1))


def _own_copy(attributor: nn.Module, trained: Callable[[str], bool]) -> nn.Module:
    """A copy that shares the tokenizer and everything that is not trained."""
    shared: list[Any] = [p for name, p in attributor.named_parameters() if not trained(name)]
    reader = getattr(getattr(attributor, "model", None), "reader", None)
    shared += [] if reader is None else [reader.tokenizer]
    own: nn.Module = copy.deepcopy(attributor, {id(thing): thing for thing in shared})
    for name, parameter in own.named_parameters():
        if trained(name):
            parameter.requires_grad_(True)
    return own


def _path(
    inputs: MaskedBatch,
    logits_of: Callable[[], Tensor],
    parameters: list[nn.Parameter],
    descent: Descent,
) -> MaskPath:
    fused = inputs.batch.ids.device.type in FUSED_ON  # one kernel for all copies
    optimiser = torch.optim.Adam(parameters, lr=descent.rate, fused=fused)
    maps, losses = [], []
    with torch.enable_grad():
        for _ in range(descent.steps):
            logits = logits_of()
            each = descent.loss(inputs, logits)
            maps.append(logits.detach().clone())
            losses.append(each.detach())
            gradients = torch.autograd.grad(each.sum(), parameters, allow_unused=True)
            inputs.model.passes.backwards += 2 * len(inputs.batch)
            for parameter, gradient in zip(parameters, gradients, strict=True):
                parameter.grad = gradient
            optimiser.step()
    with torch.no_grad():
        maps.append(logits_of().detach().clone())
        if descent.score_last:
            losses.append(descent.loss(inputs, maps[-1]))
    return MaskPath(maps, losses)


def noise_path(start: Tensor, steps: int, size: float, seeds: tuple[int, ...]) -> MaskPath:
    """The map and `steps` noisy copies of it: the control for choosing the best of several steps."""
    maps = [start]
    for step in range(steps):
        rows = [_noise(seed, step, start.shape[1]) for seed in seeds]
        maps.append(start + size * torch.from_numpy(np.stack(rows)).to(start))
    return MaskPath(maps, [])


def _noise(seed: int, step: int, width: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    # drawn position by position, so that padding does not change it
    return np.random.default_rng([seed, step]).standard_normal(width)


def chosen(path: MaskPath, selection: Selection, oracle: Callable[[MaskPath], Tensor]) -> tuple[Tensor, list[int]]:
    """The map of each input, and the step it comes from. Of equal ones the earliest."""
    if selection == "last":
        return path.last(), [len(path.maps) - 1] * len(path.last())
    index = torch.stack(path.losses).argmin(0) if selection == "loss" else oracle(path)
    return path.of(index), index.tolist()


def oracle_steps(path: MaskPath, model: Model, batch: Batch, targets: Targets, criterion: Criterion) -> Tensor:
    """(B,) the step whose order has the best value of the very metric that is reported: a selection with hindsight."""
    assert batch.unit_of is not None
    assert targets.full is not None
    most = max(e.players for e in batch.encodings)
    units = [unit_scores(m.sigmoid(), batch.unit_of, most).numpy(force=True) for m in path.maps]
    orders = [[descending_order(step[i, : e.players]) for step in units] for i, e in enumerate(batch.encodings)]
    full = targets.full.float().numpy(force=True)
    budget = min(batch.budget, model.budget)
    values = criterion.values(model, batch.encodings, full, orders, targets.resolved, budget)
    return torch.tensor([int(np.argmax(criterion.sign * row)) for row in values])
