"""The training loop: seeded, resumable, and ignorant of what it trains.

A run that was killed and started again ends with the weights of an undisturbed one: the order of the data follows from
the key, and the random numbers of a step (dropout) from the key and the step, so that nothing depends on what happened
in between; the checkpoint holds the rest.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_

from assay.core.errors import ModelError, SpecError, nearest
from assay.core.progress import Progress
from assay.core.rng import seed_of
from assay.training import checkpoint
from assay.training.batching import epoch_batches
from assay.training.history import Check, History
from assay.training.optimiser import make_optimiser, set_rate
from assay.training.recipe import Recipe
from assay.training.schedule import factor
from assay.training.step_schedule import Plan

Loss = Callable[[Any, Any], Tensor]  # (model, batch) -> mean over the batch's items
Validate = Callable[[Any], Mapping[str, float]]  # model -> scores by name, the recipe's selection among them
Watch = Callable[[Check, bool], None]  # a check, and whether it is the best so far


@dataclass(frozen=True)
class TrainingData:
    """Items 0..size-1: how to make a batch of some, and how long each is (for batches of one length)."""

    size: int
    batch: Callable[[Sequence[int]], Any]
    lengths: Sequence[int] | None = None


def fit(
    model: nn.Module,
    data: TrainingData,
    loss: Loss,
    validate: Validate | None,
    recipe: Recipe,
    *,
    key: str = "",
    about: str = "",
    folder: str | Path | None = None,
    watch: Watch | None = None,
    progress: bool | None = None,
    save_seconds: float = 60.0,
) -> History:
    """Train `model` in place; afterwards it has the weights of the best validation (the last ones without `validate`).

    key: names data and model, for the random generators; never a path or a host. folder: keeps a checkpoint, from which
    the same call goes on; about: what else the two must agree on. watch: told of every validation. progress: a bar;
    None: on a terminal. save_seconds: at least so long between two checkpoints.
    """
    run = _Run(model, data, loss, validate, recipe, key, about, watch)
    folder = None if folder is None else Path(folder)
    if folder is not None and (state := checkpoint.read(folder, run.identity)) is not None:
        run.unpack(state)
    with _own_randomness(), _own_mode(model), Progress("training", run.plan.total - run.step, progress) as bar:
        _go(run, checkpoint.Saver(folder, run.pack, save_seconds), bar)
    return run.history


def _go(run: _Run, saver: checkpoint.Saver, bar: Progress) -> None:
    while run.step < run.plan.total and not run.stopped:
        run.advance()
        if run.step in run.plan.checks:
            run.check()
        saver.now_and_then()
        bar.advance()
    saver.now()  # whoever is killed from here on need not train again
    run.restore()


@dataclass
class _Run:
    """One training: what was asked for, and how far it is."""

    model: nn.Module
    data: TrainingData
    loss: Loss
    validate: Validate | None
    recipe: Recipe
    key: str
    about: str
    watch: Watch | None
    step: int = 0
    checks: list[Check] = field(default_factory=list)
    best: int | None = None
    best_weights: dict[str, Tensor] | None = None
    stopped: bool = False
    losses: tuple[float, int] = (0.0, 0)  # sum and number of items since the last check
    before: float = 0.0  # seconds of earlier runs
    start: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.plan = Plan.of(self.recipe, self.data.size)
        if self.validate is not None:
            _ = self.recipe.direction  # complain now, not after an epoch
        self.optimiser = make_optimiser(self.model, self.recipe)
        self.parameters = [p for group in self.optimiser.param_groups for p in group["params"]]
        self.epoch = lru_cache(1)(self._epoch)

    @property
    def identity(self) -> str:
        """What a checkpoint must agree on to be gone on from."""
        facts = (self.recipe.spec.hash, self.key, self.about, self.data.size, self.validate is not None)
        return hashlib.sha256(repr(facts).encode()).hexdigest()

    # --- one step ----------------------------------------------------------------------------------------------------

    def advance(self) -> None:
        """One optimiser step: the mean gradient over all items of its batches."""
        epoch, place = divmod(self.step, self.plan.per_epoch)
        count = self.recipe.accumulation
        batches = self.epoch(epoch)[place * count : (place + 1) * count]
        self._seed()
        self.model.train(self.recipe.dropout)
        self.optimiser.zero_grad()
        items = sum(map(len, batches))
        for batch in batches:
            self._backward(batch, len(batch) / items)
        if self.recipe.clip is not None:
            self._finite("norm of the gradient", clip_grad_norm_(self.parameters, self.recipe.clip).item())
        set_rate(self.optimiser, factor(self.recipe, self.step, self.plan.total))
        self.optimiser.step()
        self.step += 1

    def _backward(self, batch: list[int], share: float) -> None:
        """A batch enters by its share of the step's items, so that accumulating equals one large batch."""
        loss = self.loss(self.model, self.data.batch(batch))
        value = self._finite("loss", loss.item())
        (loss * share).backward()
        self.losses = (self.losses[0] + value * len(batch), self.losses[1] + len(batch))

    def _finite(self, what: str, value: float) -> float:
        if not math.isfinite(value):
            raise ModelError(
                f"the {what} is {value} at step {self.step + 1} of {self.plan.total}; lower the learning rate "
                f"({self.recipe.learning_rate:g}), clip the gradient (clip={self.recipe.clip}), or check the data"
            )
        return value

    def _epoch(self, epoch: int) -> list[list[int]]:
        recipe, lengths = self.recipe, self.data.lengths if self.recipe.by_length else None
        return epoch_batches(self.data.size, recipe.batch_size, f"{self.key} {recipe.seed}", epoch, lengths)

    def _seed(self) -> None:
        seed = seed_of("step", self.key, self.recipe.seed, self.step)
        torch.default_generator.manual_seed(seed)  # torch.manual_seed would take longer than a small model's step
        if torch.cuda.is_initialized():
            torch.cuda.manual_seed_all(seed)  # the current device need not be the model's

    # --- validation --------------------------------------------------------------------------------------------------

    def check(self) -> None:
        """Validate, remember the weights if they are the best, stop if they have not been for long."""
        if self.validate is None:
            return
        self.model.eval()
        with torch.no_grad():
            scores = {name: float(value) for name, value in self.validate(self.model).items()}
        value = self._selected(scores)
        self.checks.append(self._checked(scores))
        self.losses = (0.0, 0)
        better = self.best is None or self._better(value, self._selected(self.checks[self.best].scores))
        if better:
            self.best = len(self.checks) - 1
            self.best_weights = {k: v.detach().to("cpu", copy=True) for k, v in self.model.state_dict().items()}
        waited = len(self.checks) - 1 - (self.best or 0)
        self.stopped = self.recipe.patience is not None and waited >= self.recipe.patience
        if self.watch is not None:
            self.watch(self.checks[-1], better)

    def _checked(self, scores: Mapping[str, float]) -> Check:
        rate = self.recipe.learning_rate * factor(self.recipe, self.step - 1, self.plan.total)
        epoch = self.step / self.plan.per_epoch
        return Check(self.step, epoch, self.losses[0] / max(1, self.losses[1]), scores, rate, self.seconds)

    def _selected(self, scores: Mapping[str, float]) -> float:
        name = self.recipe.selection
        if name not in scores:
            raise SpecError(f"selection={name!r} is no score of this validation; {nearest(name, scores)}")
        if math.isnan(scores[name]):
            raise ModelError(f"the validation {name} is not a number, so no checkpoint can be chosen by it")
        return scores[name]

    def _better(self, new: float, old: float) -> bool:
        return new > old if self.recipe.direction == "higher" else new < old

    def restore(self) -> None:
        """The best weights, and no gradients: they would take as much memory again."""
        self.optimiser.zero_grad()
        if self.best_weights is not None:
            self.model.load_state_dict(self.best_weights)

    # --- state -------------------------------------------------------------------------------------------------------

    @property
    def seconds(self) -> float:
        return self.before + time.monotonic() - self.start

    @property
    def history(self) -> History:
        early = self.stopped and self.step < self.plan.total
        return History(tuple(self.checks), self.best, self.step, early, self.seconds)

    def pack(self) -> dict[str, Any]:
        return {
            "identity": self.identity,
            "model": self.model.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "step": self.step,
            "checks": [asdict(check) for check in self.checks],
            "best": self.best,
            "best_weights": self.best_weights,
            "stopped": self.stopped,
            "losses": list(self.losses),
            "seconds": self.seconds,
        }

    def unpack(self, state: Mapping[str, Any]) -> None:
        self.model.load_state_dict(state["model"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.step, self.best, self.stopped = state["step"], state["best"], state["stopped"]
        self.checks = [Check(**check) for check in state["checks"]]
        self.best_weights = state["best_weights"]
        self.losses = (state["losses"][0], state["losses"][1])
        self.before = state["seconds"]


@contextmanager
def _own_randomness() -> Iterator[None]:
    """The caller's random numbers go on afterwards as if nothing had been trained."""
    devices = range(torch.cuda.device_count()) if torch.cuda.is_initialized() else ()
    with torch.random.fork_rng(devices=devices):
        yield


@contextmanager
def _own_mode(model: nn.Module) -> Iterator[None]:
    """Every part goes back to training or evaluation mode as it was: a frozen part may differ from the rest."""
    before = [(module, module.training) for module in model.modules()]
    try:
        yield
    finally:
        for module, training in before:
            module.training = training
