"""Recipe: all training hyperparameters, convertible to and from spec text and JSON."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, Literal

from assay.core.errors import SpecError
from assay.core.spec import Spec, build, parse

Better = Literal["higher", "lower"]
LOSS = "loss"  # the default selection


def _check_positive(settings: Any, *names: str, zero: bool = False) -> None:
    for name in names:
        value = getattr(settings, name)
        if value is not None and (value < 0 or (value == 0 and not zero)):
            raise SpecError(f"{name}={value}: must be {'at least 0' if zero else 'above 0'}")


@dataclass(frozen=True)
class Group:
    """Settings of the parameters whose names match a regular expression, ignoring case; None: as in the recipe."""

    pattern: str
    learning_rate: float | None = None
    weight_decay: float | None = None

    def __post_init__(self) -> None:
        try:
            re.compile(self.pattern)
        except re.error as error:
            raise SpecError(f"group({self.pattern!r}) is not a regular expression: {error}") from error
        _check_positive(self, "learning_rate", "weight_decay", zero=True)


NO_DECAY = Group(r"bias|norm|\bln_", weight_decay=0.0)  # usual for biases and normalisation layers


@dataclass(frozen=True)
class Recipe:
    """Training hyperparameters. The defaults fine-tune a pretrained encoder.

    Known limits: no `eps_root` (optax) in Adam, no restarts of the cosine schedule.
    """

    epochs: int = 3
    batch_size: int = 32  # per forward pass; one step takes `accumulation` batches
    learning_rate: float = 5e-5  # peak
    optimiser: Literal["adamw", "adam", "sgd"] = "adamw"
    betas: tuple[float, float] = (0.9, 0.999)
    epsilon: float = 1e-8
    amsgrad: bool = False
    momentum: float = 0.0  # sgd only
    weight_decay: float = 0.01  # adamw: decoupled; adam and sgd: added to the gradient
    groups: tuple[Group, ...] = (NO_DECAY,)  # the first match applies
    fused: bool = True  # fused optimiser kernel, if the device supports it
    schedule: Literal["linear", "cosine", "constant"] = "linear"  # after the warm-up
    warmup: float = 0.06  # below 1: share of all steps; from 1: number of steps
    warmup_from: float = 0.0  # learning rate at the start of the warm-up
    schedule_steps: int | None = None  # length of the schedule; None: all training steps
    clip: float | None = 1.0  # maximum norm of the gradient; None: no clipping
    accumulation: int = 1
    by_length: bool = True  # batch items of similar length, in random order
    dropout: bool = True  # False: train in evaluation mode
    selection: str = LOSS  # validation score that selects the checkpoint
    better: Better | None = None  # direction of the selection; None: lower for the loss, else the metric's own
    validate_every: float = 1.0  # epochs; 0.25: four times per epoch
    patience: int | None = None  # stop after this number of validations without improvement
    seed: int = 0

    def __post_init__(self) -> None:
        _check_positive(self, "epochs", "batch_size", "learning_rate", "accumulation", "validate_every", "epsilon")
        _check_positive(self, "clip", "patience", "schedule_steps")
        _check_positive(self, "weight_decay", "warmup", "warmup_from", "momentum", zero=True)
        if len(self.betas) != 2 or not all(0 <= beta < 1 for beta in self.betas):
            raise SpecError(f"betas={list(self.betas)}: give two numbers in [0, 1), e.g. [0.9, 0.999]")
        if self.momentum and self.optimiser != "sgd":
            raise SpecError(f"momentum={self.momentum}: only sgd has momentum; {self.optimiser} has betas=[0.9, 0.999]")
        if self.amsgrad and self.optimiser == "sgd":
            raise SpecError("amsgrad=True: only adam and adamw have amsgrad; leave it out with sgd")

    @property
    def direction(self) -> Better:
        """Whether a higher or a lower selection score is better."""
        if self.better is None and self.selection != LOSS:
            raise SpecError(f"selection={self.selection!r} needs better='higher' or better='lower'")
        return self.better or "lower"

    @property
    def spec(self) -> Spec:
        """The recipe as a spec with every field."""
        return Spec.of(self)

    def to_json(self) -> dict[str, Any]:
        return self.spec.to_json()

    @staticmethod
    def from_json(data: dict[str, Any]) -> Recipe:
        return Recipe.from_spec(Spec.from_json(data))

    @staticmethod
    def from_spec(spec: str | Spec) -> Recipe:
        """ "recipe(epochs=8, optimiser=adam, groups=[group(attention, weight_decay=0)])" as a Recipe."""
        spec = parse(spec) if isinstance(spec, str) else spec
        if spec.name != "recipe":
            raise SpecError(f"{spec} is not a recipe; write recipe(epochs=3, learning_rate=5e-5, ...)")
        groups = dict(spec.params).get("groups")
        rest = Spec(spec.name, tuple((key, value) for key, value in spec.params if key != "groups"), spec.args)
        recipe = build(rest, Recipe)
        return recipe if groups is None else replace(recipe, groups=_groups(groups))


def _groups(value: Any) -> tuple[Group, ...]:
    items = value if isinstance(value, tuple) else (value,)
    for item in items:
        if not isinstance(item, Spec) or item.name != "group":
            raise SpecError(f"groups: {item} is not a group; write [group('bias|norm', weight_decay=0)]")
    return tuple(build(item, Group) for item in items)
