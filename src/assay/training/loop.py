"""The training loop: deterministic, resumable, for any PyTorch module.

A resumed run ends with the same weights as an uninterrupted one: the order of the data depends on the key and the
epoch, the random numbers of a step (dropout) on the key and the step; the checkpoint holds the rest.
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

from assay.core.errors import AssayError, ModelError, SpecError, nearest
from assay.core.progress import Progress
from assay.core.ranges import NOT_NEGATIVE, check_range
from assay.core.rng import seed_of
from assay.training.batching import epoch_batches
from assay.training.checkpoint import CheckpointSaver, read_checkpoint
from assay.training.history import Check, History
from assay.training.optimiser import make_optimiser, set_rate
from assay.training.recipe import LOSS, Recipe
from assay.training.schedule import rate_factor
from assay.training.step_schedule import StepSchedule

Loss = Callable[[Any, Any], Tensor]  # (model, batch) -> mean loss of the batch
Validate = Callable[[Any], Mapping[str, float]]  # model -> scores by name, including the recipe's selection
AfterStep = Callable[[Any, Any], None]  # (model, batch), called after the optimiser's step on the batch
OnCheck = Callable[[Check, bool], None]  # called after each validation; whether it is the best so far


class NotFiniteError(ModelError):
    """A loss, gradient or validation that is not a number; the model has the weights of the best validation so far."""

    def __init__(self, message: str, history: History | None = None) -> None:
        super().__init__(message)
        self.history = history  # up to the step that failed


@dataclass(frozen=True)
class TrainingData:
    """Items 0..size-1, a function that makes a batch of some, and optionally their lengths."""

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
    resume_key: str = "",
    folder: str | Path | None = None,
    on_check: OnCheck | None = None,
    after_step: AfterStep | None = None,
    progress: bool | None = None,
    save_seconds: float = 60.0,
) -> History:
    """Train `model` in place; it ends with the weights of the best validation (without `validate`, the last ones).

    key: identifies data and model, and seeds the random generators; must not contain paths. folder: holds checkpoints,
    from which the same call resumes; resume_key: anything else that must be equal to resume. on_check: called after
    every validation; after_step: after every step, with its batch (what it keeps must be in the model's state).
    progress: show a bar; None: on a terminal. save_seconds: minimum time between checkpoints.
    """
    check_range("save_seconds", save_seconds, NOT_NEGATIVE)
    run = _Run(model, data, loss, validate, recipe, key, resume_key, on_check, after_step)
    folder = None if folder is None else Path(folder)
    if folder is not None and (state := read_checkpoint(folder, run.identity)) is not None:
        try:
            run.load_state(state)
        except (KeyError, TypeError, ValueError, RuntimeError, AttributeError, IndexError) as error:
            raise AssayError(
                f"the checkpoint in {folder} is damaged ({type(error).__name__}); delete it and train again"
            ) from error
    with (
        _preserved_random_state(),
        _preserved_modes(model),
        Progress("training", run.schedule.total - run.step, progress) as bar,
    ):
        _train(run, CheckpointSaver(folder, run.state, save_seconds), bar)
    return run.history


def _train(run: _Run, saver: CheckpointSaver, bar: Progress) -> None:
    while run.step < run.schedule.total and not run.stopped:
        try:
            run.advance()
            if run.step in run.schedule.checks:
                run.check()
        except NotFiniteError as error:
            run.restore_best()
            raise NotFiniteError(str(error), run.history) from error
        saver.save_if_due()
        bar.advance()
    saver.save()  # an interruption from here on loses no training
    run.restore_best()


@dataclass
class _Run:
    """The settings and the state of a training run."""

    model: nn.Module
    data: TrainingData
    loss: Loss
    validate: Validate | None
    recipe: Recipe
    key: str
    resume_key: str
    on_check: OnCheck | None
    after_step: AfterStep | None = None
    step: int = 0
    checks: list[Check] = field(default_factory=list)
    best: int | None = None
    best_weights: dict[str, Tensor] | None = None
    stopped: bool = False
    losses: tuple[float, int] = (0.0, 0)  # sum and number of items since the last check
    earlier_seconds: float = 0.0  # of the runs before it was resumed
    start: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.schedule = StepSchedule.of(self.recipe, self.data.size)
        if self.validate is not None:
            _ = self.recipe.direction  # raise now, not after an epoch
        self.optimiser = make_optimiser(self.model, self.recipe)
        self.parameters = [p for group in self.optimiser.param_groups for p in group["params"]]
        self.epoch = lru_cache(1)(self._epoch)
        self.frozen = frozenset(name for name, p in self.model.named_parameters() if not p.requires_grad)

    @property
    def identity(self) -> str:
        """What must be equal to resume from a checkpoint."""
        facts = (self.recipe.spec.hash, self.key, self.resume_key, self.data.size, self.validate is not None)
        return hashlib.sha256(repr(facts).encode()).hexdigest()

    # --- one step ----------------------------------------------------------------------------------------------------

    def advance(self) -> None:
        """One optimiser step with the mean gradient over all items of its batches."""
        epoch, step = divmod(self.step, self.schedule.per_epoch)
        count = self.recipe.accumulation
        batches = self.epoch(epoch)[step * count : (step + 1) * count]
        self._seed()
        self.model.train(self.recipe.dropout)
        self.optimiser.zero_grad()
        items = sum(map(len, batches))
        for batch in batches:
            self._backward(batch, len(batch) / items)
        if self.recipe.clip is not None:
            self._check_finite("norm of the gradient", clip_grad_norm_(self.parameters, self.recipe.clip).item())
        set_rate(self.optimiser, rate_factor(self.recipe, self.step, self.schedule.total))
        self.optimiser.step()
        if self.after_step is not None:
            for batch in batches:
                self.after_step(self.model, self.data.batch(batch))
        self.step += 1

    def _backward(self, batch: list[int], share: float) -> None:
        """Weight a batch by its share of the step's items, so that accumulation equals one large batch."""
        loss = self.loss(self.model, self.data.batch(batch))
        value = self._check_finite("loss", loss.item())
        (loss * share).backward()
        self.losses = (self.losses[0] + value * len(batch), self.losses[1] + len(batch))

    def _check_finite(self, name: str, value: float) -> float:
        if not math.isfinite(value):
            raise NotFiniteError(
                f"the {name} is {value} at step {self.step + 1} of {self.schedule.total}; lower the learning rate "
                f"({self.recipe.learning_rate:g}), clip the gradient (clip={self.recipe.clip}), or check the data"
            )
        return value

    def _epoch(self, epoch: int) -> list[list[int]]:
        recipe, lengths = self.recipe, self.data.lengths if self.recipe.by_length else None
        return epoch_batches(self.data.size, recipe.batch_size, f"{self.key} {recipe.seed}", epoch, lengths)

    def _seed(self) -> None:
        seed = seed_of("step", self.key, self.recipe.seed, self.step)
        torch.default_generator.manual_seed(seed)  # torch.manual_seed takes longer than a step of a small model
        if torch.cuda.is_initialized():
            torch.cuda.manual_seed_all(seed)  # the model may not be on the current device

    # --- validation --------------------------------------------------------------------------------------------------

    def check(self) -> None:
        """Validate; keep the weights if they are the best, and stop when patience runs out."""
        if self.validate is None:
            return
        self.model.eval()
        with torch.no_grad():
            scores = {name: float(value) for name, value in self.validate(self.model).items()}
        self._selection(scores)  # raises if there is none
        self.checks.append(self._make_check(scores))
        self.losses = (0.0, 0)
        is_best = self.best is None or self._is_better(scores, self.checks[self.best].scores)
        if is_best:
            self.best = len(self.checks) - 1
            self.best_weights = {k: v.detach().to("cpu", copy=True) for k, v in self._weights().items()}
        waited = len(self.checks) - 1 - (self.best or 0)
        self.stopped = self.recipe.patience is not None and waited >= self.recipe.patience
        if self.on_check is not None:
            self.on_check(self.checks[-1], is_best)

    def _make_check(self, scores: Mapping[str, float]) -> Check:
        rate = self.recipe.learning_rate * rate_factor(self.recipe, self.step - 1, self.schedule.total)
        epoch = self.step / self.schedule.per_epoch
        return Check(self.step, epoch, self.losses[0] / max(1, self.losses[1]), scores, rate, self.seconds)

    def _selection(self, scores: Mapping[str, float]) -> float:
        name = self.recipe.selection
        if name not in scores:
            raise SpecError(f"selection={name!r} is not a score of this validation; {nearest(name, scores)}")
        if math.isnan(scores[name]):
            raise NotFiniteError(f"the validation {name} is NaN at step {self.step}; no checkpoint can be selected")
        return scores[name]

    def _is_better(self, new: Mapping[str, float], old: Mapping[str, float]) -> bool:
        """By the selection; of two equal scores, common on small validation sets, the lower loss is better."""
        value, best = self._selection(new), self._selection(old)
        if value == best:
            return new.get(LOSS, math.inf) < old.get(LOSS, math.inf)
        return value > best if self.recipe.direction == "higher" else value < best

    def restore_best(self) -> None:
        """Load the best weights and free the gradients."""
        self.optimiser.zero_grad()
        if self.best_weights is not None:
            self._load_weights(self.best_weights)

    # --- state -------------------------------------------------------------------------------------------------------

    @property
    def seconds(self) -> float:
        return self.earlier_seconds + time.monotonic() - self.start

    @property
    def history(self) -> History:
        early = self.stopped and self.step < self.schedule.total
        return History(tuple(self.checks), self.best, self.step, early, self.seconds)

    def _weights(self) -> dict[str, Tensor]:
        """What training changes; frozen parameters, such as the base of an adapter, are there already."""
        return {name: tensor for name, tensor in self.model.state_dict().items() if name not in self.frozen}

    def _load_weights(self, weights: Mapping[str, Tensor]) -> None:
        missing, unexpected = self.model.load_state_dict(weights, strict=False)
        if unexpected or not self.frozen.issuperset(missing):
            raise RuntimeError(f"the weights do not fit the model: {[*unexpected, *missing][0]}")

    def state(self) -> dict[str, Any]:
        return {
            "identity": self.identity,
            "model": self._weights(),
            "optimiser": self.optimiser.state_dict(),
            "step": self.step,
            "checks": [asdict(check) for check in self.checks],
            "best": self.best,
            "best_weights": self.best_weights,
            "stopped": self.stopped,
            "losses": list(self.losses),
            "seconds": self.seconds,
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        self._load_weights(state["model"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.step, self.best, self.stopped = int(state["step"]), state["best"], bool(state["stopped"])
        self.checks = [Check(**check) for check in state["checks"]]
        self.best_weights = state["best_weights"]
        self.losses = (state["losses"][0], state["losses"][1])
        self.earlier_seconds = state["seconds"]


@contextmanager
def _preserved_random_state() -> Iterator[None]:
    """Restore the caller's random state afterwards."""
    devices = range(torch.cuda.device_count()) if torch.cuda.is_initialized() else ()
    with torch.random.fork_rng(devices=devices):
        yield


@contextmanager
def _preserved_modes(model: nn.Module) -> Iterator[None]:
    """Restore the training or evaluation mode of every submodule afterwards."""
    before = [(module, module.training) for module in model.modules()]
    try:
        yield
    finally:
        for module, training in before:
            module.training = training
