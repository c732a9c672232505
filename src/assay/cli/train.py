"""Fine-tune a classifier or a regression model; the best checkpoint by validation is saved.

Rerun the same command to resume an interrupted training.
"""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

import assay
from assay.cli._jobs import resumable
from assay.cli._options import DATA_OPTIONS, EXECUTION, MODEL, TRAINING, Settings, command_app, settings_from
from assay.cli._training import ExampleOptions, Printer, RunOptions, scores
from assay.training.recipe import Recipe

app = command_app(
    "train",
    "assay train --base FOLDER --data reviews/ --output model",
    "assay train --base 'bert(layers=2, width=128)' --data reviews.csv --output model --epochs 5",
    "assay train --base FOLDER --data reviews/ --output model --recipe 'recipe(clip=None, optimiser=sgd)'",
)


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
    data: Annotated[ExampleOptions, DATA_OPTIONS],
    settings: Settings,
    recipe: Annotated[
        str,
        Parameter(
            group=TRAINING, show_default=False, help="All of the above as one spec; single options take precedence."
        ),
    ] = "recipe",
    device: Annotated[str | None, Parameter(group=EXECUTION, help="Device to train on, such as cpu or cuda.")] = None,
    run: Annotated[RunOptions, Parameter(name="*")],
) -> None:
    printer = Printer("examples")
    with resumable(run.interrupted):
        trained = assay.train(
            base, recipe=recipe, device=device, **vars(data), **vars(run), **printer.calls, **settings.given()
        )
    best = trained.history.best_check
    if best is not None:
        seconds = trained.history.seconds
        printer.console.print(f"best checkpoint: {scores(best)}, epoch {best.epoch:.2f}; {seconds:.0f} s")
        if doubt := printer.doubt(best):
            printer.console.print(doubt)
    printer.console.print(f"saved in {run.output}; use it with --model {run.output} or assay.load_model")
