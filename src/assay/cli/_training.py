"""Options and lines that `train` and `fit` share."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from assay.cli._options import EXECUTION, OUTPUT, ColumnRoles, LabelNames, Positive, flag
from assay.core.console import Console

if TYPE_CHECKING:
    from assay.training.history import Check

CHECKPOINT = "checkpoint.pt"  # of the training loop
EARLIER = ("values.safetensors", "search.log")  # what a fit saves before it trains: answers to masks, trials


@dataclass(frozen=True, kw_only=True)
class SplitOptions:
    """Which examples to learn from and to validate on."""

    data: str
    """File, folder, hub id, or a name from `assay data list`."""
    split: str | None = None
    """Split to learn from. Default: train."""
    validation: str | None = None
    """Split that chooses the checkpoint. Default: dev, or 10 % of the other split."""
    columns: ColumnRoles = None
    label_map: LabelNames = None
    limit: int | None = None
    """Learn from only this many examples, drawn at random."""
    validation_limit: int | None = None
    """Validate on only this many examples, drawn at random."""


@dataclass(frozen=True, kw_only=True)
class ExampleOptions(SplitOptions):
    """Which examples to train on, and how to read them."""

    task: Literal["classification", "regression"] | None = None
    """Kind of labels. Default: inferred from the labels."""
    max_length: int | None = None
    """Truncate inputs to this many tokens. Default: 512."""


@dataclass(frozen=True, kw_only=True)
class TextOptions(SplitOptions):
    """Which texts to fit on."""

    limit: int = 2000
    """Fit on only this many texts, drawn at random."""
    validation_limit: int = 200
    """Validate on only this many texts, drawn at random."""


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How to run, and where to save."""

    threads: Annotated[Positive | None, Parameter(group=EXECUTION)] = None
    """Number of CPU threads."""
    save_seconds: Annotated[float, Parameter(group=EXECUTION)] = 60.0
    """Seconds between two saved checkpoints."""
    output: Annotated[Path, Parameter(group=OUTPUT)]
    """Folder to save in; the same command resumes there."""
    overwrite: Annotated[bool, flag("Replace what is finished in the folder.", OUTPUT)] = False

    def interrupted(self) -> str:
        """What Ctrl-C leaves: checkpoints are `save_seconds` apart, so epochs may have been printed that none holds."""
        folder = self.output.expanduser()
        if (folder / CHECKPOINT).is_file():
            same = "the same command" + " without --overwrite" * self.overwrite  # which would delete the checkpoint
            return f"Interrupted. The training is kept up to its last checkpoint; rerun {same} to resume."
        if any((folder / name).is_file() for name in EARLIER):
            return (
                "Interrupted before the first checkpoint: only what ran before the training is kept, such as answers "
                "to masked texts. Rerun the same command to go on from there."
            )
        return "Interrupted before the first checkpoint: nothing is kept. Rerun the same command to start again."


@dataclass(frozen=True)
class Printer:
    """Prints how a training goes."""

    noun: str  # what it learns from: examples, texts
    console: Console = field(default_factory=lambda: Console(soft_wrap=True))
    labels: Counter[str] = field(default_factory=Counter)  # of the examples that choose the checkpoint

    def sizes(self, train: Any, held_out: Any) -> None:
        self.labels.update(str(example.label) for example in held_out)
        noun = train.inputs if self.noun == "texts" else self.noun
        self.console.print(f"{len(train):,} {noun} to learn from, {len(held_out):,} to choose the checkpoint by")

    def check(self, check: Check, best: bool) -> None:
        line = f"epoch {check.epoch:.2f}  training loss {check.loss:.4f}  validation: {scores(check)}"
        self.console.print(f"{line}{'  *' if best else ''}")

    def doubt(self, check: Check) -> str:
        """What must be said of a classifier that has learnt nothing: its explanations would mean nothing."""
        most = max(self.labels.values(), default=0) / max(self.labels.total(), 1)
        if check.scores.get("accuracy", math.inf) > most:
            return ""
        return (
            f"It is no more accurate than always predicting the most frequent label ({100 * most:.1f} % of the "
            f"validation {self.noun}): train it for longer, on more {self.noun}, or with another learning rate."
        )

    @property
    def calls(self) -> dict[str, Any]:
        """The arguments of a verb that it prints for."""
        return {"on_start": self.sizes, "on_check": self.check}


def scores(check: Check) -> str:
    return ", ".join(f"{name} {value:.4f}" for name, value in check.scores.items())
