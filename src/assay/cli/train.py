"""Fine-tune a classifier or a regression model; the best checkpoint by validation is saved.

Rerun the same command to resume an interrupted training.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

import assay
from assay.cli._jobs import resumable
from assay.cli._options import (
    DATA,
    EXECUTION,
    MODEL,
    OUTPUT,
    TRAINING,
    ColumnRoles,
    LabelNames,
    Positive,
    Settings,
    command_app,
    flag,
    settings_from,
)
from assay.core.console import Console
from assay.training.recipe import Recipe

if TYPE_CHECKING:
    from assay.training.history import Check

app = command_app(
    "train",
    "assay train --base FOLDER --data reviews/ --output model",
    "assay train --base 'bert(layers=2, width=128)' --data reviews.csv --output model --epochs 5",
    "assay train --base FOLDER --data reviews/ --output model --recipe 'recipe(clip=None, optimiser=sgd)'",
)


@dataclass(frozen=True, kw_only=True)
class TrainingDataOptions:
    """Which examples to train and validate on."""

    data: str
    """File, folder, hub id, or a name from `assay data list`."""
    split: str | None = None
    """Split to train on. Default: train."""
    validation: str | None = None
    """Split to validate on. Default: dev, or 10 % of the training split."""
    columns: ColumnRoles = None
    label_map: LabelNames = None
    limit: int | None = None
    """Train on only this many examples, drawn at random."""
    validation_limit: int | None = None
    """Validate on only this many examples, drawn at random."""
    task: Literal["classification", "regression"] | None = None
    """Kind of labels. Default: inferred from the labels."""
    max_length: int | None = None
    """Truncate inputs to this many tokens. Default: 512."""


@app.default
@settings_from(Recipe, TRAINING, omit=("groups",))
def train(
    *,
    base: Annotated[
        str,
        Parameter(
            group=MODEL,
            help="Pretrained folder or hub id, or a size to train from scratch, e.g. 'bert(layers=2, width=128)'.",
        ),
    ],
    data: Annotated[TrainingDataOptions, Parameter(name="*", group=DATA)],
    settings: Settings,
    recipe: Annotated[
        str,
        Parameter(
            group=TRAINING, show_default=False, help="All of the above as one spec; single options take precedence."
        ),
    ] = "recipe",
    device: Annotated[str | None, Parameter(group=EXECUTION, help="Device to train on, such as cpu or cuda.")] = None,
    threads: Annotated[Positive | None, Parameter(group=EXECUTION, help="Number of CPU threads.")] = None,
    save_seconds: Annotated[float, Parameter(group=EXECUTION, help="Seconds between two saved checkpoints.")] = 60.0,
    output: Annotated[Path, Parameter(group=OUTPUT, help="Folder for the model; training resumes there.")],
    overwrite: Annotated[bool, flag("Replace a finished training.", OUTPUT)] = False,
) -> None:
    console = Console(soft_wrap=True)

    def print_sizes(train: Any, validation: Any) -> None:
        console.print(f"{len(train):,} examples to train on, {len(validation):,} to validate on")

    def print_check(check: Check, best: bool) -> None:
        line = f"epoch {check.epoch:.2f}  training loss {check.loss:.4f}  validation: {_scores(check)}"
        console.print(f"{line}{'  *' if best else ''}")

    with resumable():
        trained = assay.train(
            base,
            output=output,
            recipe=recipe,
            device=device,
            threads=threads,
            save_seconds=save_seconds,
            overwrite=overwrite,
            on_start=print_sizes,
            on_check=print_check,
            **vars(data),
            **settings.given(),
        )
    best = trained.history.best_check
    if best is not None:
        console.print(f"best checkpoint: {_scores(best)}, epoch {best.epoch:.2f}; {trained.history.seconds:.0f} s")
    console.print(f"saved in {output}; use it with --model {output} or assay.load_model")


def _scores(check: Check) -> str:
    return ", ".join(f"{name} {value:.4f}" for name, value in check.scores.items())
