"""Recipe: all training hyperparameters, convertible to and from spec text and JSON."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, get_args

from assay.core.default import DefaultName
from assay.core.errors import SpecError, nearest
from assay.core.ranges import COUNT, NOT_NEGATIVE, POSITIVE, Range, check_ranges
from assay.core.spec import Spec, build, parse
from assay.models.heads import HEADS

Better = Literal["higher", "lower"]
LOSS = "loss"  # the default selection


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
        check_ranges(self, learning_rate=NOT_NEGATIVE, weight_decay=NOT_NEGATIVE)


Optimiser = Literal["adamw", "adam", "sgd"]
Schedule = Literal["linear", "cosine", "constant"]
OPTIMISERS, SCHEDULES = get_args(Optimiser), get_args(Schedule)
NO_DECAY = Group(r"bias|norm|\bln_", weight_decay=0.0)  # usual for biases and normalisation layers


RANGES = {
    **dict.fromkeys(("epochs", "batch_size", "accumulation", "patience", "schedule_steps"), COUNT),
    **dict.fromkeys(("learning_rate", "epsilon", "clip", "validate_every"), POSITIVE),
    **dict.fromkeys(("weight_decay", "warmup", "warmup_from"), NOT_NEGATIVE),
    "momentum": Range(0, 1, below=True),
    "lora_rank": COUNT,
    "lora_alpha": POSITIVE,
    "lora_dropout": Range(0, 1, below=True),
    "seed": Range(0, whole=True),
}


@dataclass(frozen=True)
class Recipe:
    """Training hyperparameters. The defaults fine-tune a pretrained encoder.

    Known limits: no `eps_root` (optax) in Adam, no restarts of the cosine schedule.
    """

    epochs: int = 3
    """Number of passes over the training data."""
    batch_size: int = 32
    """Examples per forward pass."""
    learning_rate: float = 5e-5
    """Peak learning rate."""
    optimiser: Optimiser = "adamw"
    """Optimiser."""
    betas: tuple[float, float] = (0.9, 0.999)
    """Moment decay rates of Adam."""
    epsilon: float = 1e-8
    """Epsilon of Adam."""
    amsgrad: bool = False
    """Use the AMSGrad variant of Adam."""
    momentum: float = 0.0
    """Momentum of SGD."""
    weight_decay: float = 0.01
    """Weight decay: decoupled in adamw, added to the gradient in adam and sgd."""
    groups: tuple[Group, ...] = (NO_DECAY,)
    """Parameters with their own learning rate or weight decay; the first group that matches a name counts."""
    fused: bool = True
    """Update all parameters with one fused kernel where the device has it."""
    schedule: Schedule = "linear"
    """Learning rate schedule after the warm-up."""
    warmup: float = 0.06
    """Warm-up steps: below 1 a share of all steps, from 1 their number."""
    warmup_from: float = 0.0
    """Learning rate at the first step of the warm-up."""
    schedule_steps: int | None = None
    """Length of the schedule in steps. Default: the whole training."""
    clip: float | None = 1.0
    """Clip the gradient to this norm."""
    accumulation: int = 1
    """Forward passes per optimiser step."""
    by_length: bool = True
    """Batch examples of similar length."""
    dropout: bool = True
    """Train with dropout."""
    selection: str = DefaultName(LOSS)
    """Validation score that selects the checkpoint, such as loss. Default: accuracy, or pearson for regression."""
    better: Better | None = None
    """Direction of the selection score. Default: the metric's own."""
    validate_every: float = 1.0
    """Epochs between validations; 0.25 is four times per epoch."""
    patience: int | None = None
    """Stop after this many validations without improvement."""
    seed: int = 0
    """Seed of the initialisation, the order of examples and dropout."""
    head: str | None = field(default=None, metadata={"unsaid": None})
    """Head of Assay's instead of the model's own: scalar_mix (mean of all layers) or mean (of the last layer)."""
    lora: bool = field(default=False, metadata={"unsaid": False})
    """Train low-rank adapters (LoRA) and the head instead of all weights."""
    lora_rank: int = field(default=8, metadata={"unsaid": 8})
    """Rank of the adapters."""
    lora_alpha: float = field(default=16.0, metadata={"unsaid": 16.0})
    """Adapters are multiplied by alpha / rank."""
    lora_dropout: float = field(default=0.05, metadata={"unsaid": 0.05})
    """Dropout before the adapters."""
    lora_targets: tuple[str, ...] = field(default=(), metadata={"unsaid": ()})
    """Names of the linear layers to adapt. Default: the query and value projections of every block."""
    lora_merged: bool = field(default=True, metadata={"unsaid": True})
    """Add the adapters to the weights at the end and save a whole model. False saves the adapters alone."""

    def __post_init__(self) -> None:
        check_ranges(self, **RANGES)
        for name, allowed in (("optimiser", OPTIMISERS), ("schedule", SCHEDULES)):
            if getattr(self, name) not in allowed:
                raise SpecError(f"{name}={getattr(self, name)!r}: {nearest(str(getattr(self, name)), allowed)}")
        if len(self.betas) != 2 or not all(beta in Range(0, 1, below=True) for beta in self.betas):
            raise SpecError(f"betas={list(self.betas)}: give two numbers in [0, 1), e.g. [0.9, 0.999]")
        if self.momentum and self.optimiser != "sgd":
            raise SpecError(f"momentum={self.momentum}: only sgd has momentum; {self.optimiser} has betas=[0.9, 0.999]")
        if self.amsgrad and self.optimiser == "sgd":
            raise SpecError("amsgrad=True: only adam and adamw have amsgrad; leave it out with sgd")
        if self.head is not None and self.head not in HEADS.names:
            raise SpecError(f"head={self.head!r}: {nearest(self.head, HEADS.names)}; leave it out for the model's own")
        self._check_lora()

    def _check_lora(self) -> None:
        given = [f.name for f in fields(self) if f.name.startswith("lora_") and getattr(self, f.name) != f.default]
        if given and not self.lora:
            raise SpecError(f"{given[0]} is a setting of LoRA; give lora=True (--lora) too, or leave it out")

    def selecting_by(self, score: str) -> Recipe:
        """The recipe with the score that selects the checkpoint where none was given; `loss` may be given."""
        return replace(self, selection=score) if isinstance(self.selection, DefaultName) else self

    @property
    def direction(self) -> Better:
        """Whether a higher or a lower selection score is better."""
        if self.better is None and self.selection != LOSS:
            raise SpecError(f"selection={self.selection!r} needs better='higher' or better='lower'")
        return self.better or "lower"

    @property
    def spec(self) -> Spec:
        """The recipe as a spec with every field; those of LoRA, which are newer than records, where they are set."""
        return Spec.in_key(self)

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
