"""`assay train`: fine-tune a classifier or a scorer, for use with every other command."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from assay.cli._options import Columns, Device, roles
from assay.core.errors import SpecError

if TYPE_CHECKING:
    from assay.training.history import Check
    from assay.training.recipe import Recipe


def run(
    base: Annotated[str, typer.Option(help="pretrained folder or hub id, or a size: 'bert(layers=2, width=128)'")],
    data: Annotated[str, typer.Option(help="folder, file, hub id or built-in name")],
    output: Annotated[Path, typer.Option(help="folder for the model; an interrupted training goes on there")],
    epochs: Annotated[int | None, typer.Option(help="default 3")] = None,
    batch_size: Annotated[int | None, typer.Option(help="examples per pass; default 32")] = None,
    learning_rate: Annotated[float | None, typer.Option(help="at its peak; default 5e-5")] = None,
    max_length: Annotated[int | None, typer.Option(help="positions after which a text is cut; default 512")] = None,
    limit: Annotated[int | None, typer.Option(help="train on a random subset of so many")] = None,
    validation_limit: Annotated[int | None, typer.Option(help="validate on a random subset of so many")] = None,
    split: Annotated[
        str | None, typer.Option(help="TRAIN or TRAIN,VALIDATION; default train and dev, or 10 % held out")
    ] = None,
    columns: Columns = None,
    task: Annotated[str | None, typer.Option(help="classification or regression; default: what the labels are")] = None,
    selection: Annotated[
        str | None, typer.Option(help="accuracy, macro_f1, auroc, pearson, mse, ... or loss: chooses the checkpoint")
    ] = None,
    patience: Annotated[int | None, typer.Option(help="stop after so many validations without a better one")] = None,
    validate_every: Annotated[float | None, typer.Option(help="epochs between validations, e.g. 0.25")] = None,
    accumulation: Annotated[int | None, typer.Option(help="passes per optimiser step")] = None,
    warmup: Annotated[float | None, typer.Option(help="share of all steps, or from 1 on their number")] = None,
    weight_decay: Annotated[float | None, typer.Option(help="default 0.01, none on biases and norms")] = None,
    seed: Annotated[int | None, typer.Option(help="of the head, the order and the dropout")] = None,
    recipe: Annotated[
        str | None, typer.Option(help="all the rest: 'recipe(optimiser=sgd, momentum=0.9, schedule=cosine, clip=None)'")
    ] = None,
    device: Device = None,
    threads: Annotated[int | None, typer.Option(min=1, help="of the processor")] = None,
    save_seconds: Annotated[float, typer.Option(help="at least so long between two checkpoints")] = 60.0,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="replace a finished training")] = False,
) -> None:
    """Fine-tune a model on a data set; the best checkpoint by validation is saved."""
    options = dict(locals())
    from assay.training.splits import training_data

    names = (split or "").partition(",")
    given = _recipe(recipe, options)
    train, validation = training_data(
        data,
        names[0].strip() or None,
        names[2].strip() or None,
        columns=roles(columns),
        limit=limit,
        validation_limit=validation_limit,
        seed=given.seed,
    )
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"{len(train):,} examples to train on, {len(validation):,} to validate on")
    _train(console, given, base, train, validation, options)


def _recipe(text: str | None, options: dict[str, Any]) -> Recipe:
    """What --recipe says, with the options that were given in its place."""
    from assay.training.recipe import Recipe

    recipe = Recipe.from_spec(text) if text else Recipe()
    names = {f.name for f in fields(Recipe)}
    return replace(recipe, **{k: v for k, v in options.items() if k in names and v is not None})


def _train(console: Console, recipe: Recipe, base: str, train: Any, validation: Any, options: dict[str, Any]) -> None:
    from assay.experiments.training_task import SELECTIONS
    from assay.experiments.worker import threads
    from assay.training.classifier import train_classifier

    task = options["task"] or train.task
    recipe = recipe if _selects(recipe, options) else replace(recipe, selection=SELECTIONS.get(task, "loss"))
    with threads(options["threads"]):
        trained = train_classifier(
            base,
            train,
            validation,
            recipe,
            output=options["output"],
            overwrite=options["overwrite"],
            metrics=_metrics(task, recipe.selection),
            max_length=options["max_length"],
            task=options["task"],
            device=options["device"],
            save_seconds=options["save_seconds"],
            on_check=lambda check, best: console.print(_line(check, best)),
        )
    kept = trained.history.best_check
    if kept is not None:
        console.print(f"kept: {_scores(kept)}, of epoch {kept.epoch:.2f}; {trained.history.seconds:.0f} s")
    console.print(f"saved in {options['output']}: load it with load_model, or --model {options['output']}")


def _selects(recipe: Recipe, options: dict[str, Any]) -> bool:
    return options["selection"] is not None or recipe.selection != "loss"


def _metrics(task: str, selection: str) -> dict[str, Any]:
    """Every performance metric of the task; the selected one must be among them."""
    from assay.core.errors import nearest
    from assay.experiments.training_task import performance_metrics

    fitting = performance_metrics(task)
    if selection != "loss" and selection not in fitting:
        raise SpecError(f"--selection {selection}: no score of a {task}; {nearest(selection, ['loss', *fitting])}")
    return fitting


def _line(check: Check, best: bool) -> str:
    best_mark = "  *" if best else ""
    return f"epoch {check.epoch:.2f}  training loss {check.loss:.4f}  validation: {_scores(check)}{best_mark}"


def _scores(check: Check) -> str:
    return ", ".join(f"{name} {value:.4f}" for name, value in check.scores.items())
