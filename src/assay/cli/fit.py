"""Fit an explainer to a model: a method that explains any new input in one pass.

Rerun the same command to resume an interrupted fit.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

import assay
from assay.cli._jobs import resumable
from assay.cli._options import (
    DATA,
    EXECUTION,
    MODEL_OPTIONS,
    OUTPUT,
    TRAINING,
    ColumnRoles,
    LabelNames,
    ModelOptions,
    Positive,
    Settings,
    command_app,
    flag,
    settings_from,
)
from assay.core.console import Console
from assay.fitting.settings import AmlFit

if TYPE_CHECKING:
    from assay.fitting.search import Trial
    from assay.training.history import Check

app = command_app(
    "fit",
    "assay fit aml --model FOLDER --data reviews/ --output explainer",
    "assay fit aml --model FOLDER --data reviews/ --metric sufficiency --masks 32 --output explainer",
    "assay fit aml --model FOLDER --data reviews/ --objective masking --search 30 --output explainer",
)


@app.default
@settings_from(AmlFit, TRAINING)
def fit(
    method: Annotated[str, Parameter(help="What to fit: aml.")] = "aml",
    /,
    *,
    model: Annotated[ModelOptions, MODEL_OPTIONS] = ModelOptions(),
    data: Annotated[str, Parameter(group=DATA, help="File, folder, hub id, or a name from `assay data list`.")],
    split: Annotated[str | None, Parameter(group=DATA, help="Split to fit on. Default: train.")] = None,
    validation: Annotated[
        str | None, Parameter(group=DATA, help="Split to choose the checkpoint on. Default: dev, or 10 % of the first.")
    ] = None,
    columns: Annotated[ColumnRoles, Parameter(group=DATA)] = None,
    label_map: Annotated[LabelNames, Parameter(group=DATA)] = None,
    limit: Annotated[int, Parameter(group=DATA, help="Fit on only this many texts, drawn at random.")] = 2000,
    validation_limit: Annotated[
        int, Parameter(group=DATA, help="Validate on only this many texts, drawn at random.")
    ] = 200,
    settings: Settings,
    search: Annotated[
        Positive | None,
        Parameter(group=TRAINING, help="Tune the weights of the losses in this many short trials first."),
    ] = None,
    threads: Annotated[Positive | None, Parameter(group=EXECUTION, help="Number of CPU threads.")] = None,
    save_seconds: Annotated[float, Parameter(group=EXECUTION, help="Seconds between two saved checkpoints.")] = 60.0,
    output: Annotated[Path, Parameter(group=OUTPUT, help="Folder for the explainer; a fit resumes there.")],
    overwrite: Annotated[bool, flag("Replace a finished explainer.", OUTPUT)] = False,
) -> None:
    console = Console(soft_wrap=True)

    def print_sizes(train: Any, held_out: Any) -> None:
        console.print(f"{len(train):,} texts to fit on, {len(held_out):,} to choose the checkpoint on")

    def print_check(check: Check, best: bool) -> None:
        console.print(f"epoch {check.epoch:.2f}  loss {check.loss:.4f}  {_scores(check)}{'  *' if best else ''}")

    def print_trial(trial: Trial) -> None:
        weights = ", ".join(f"{name} {value:.3f}" for name, value in trial.weights.items())
        value = "given up" if trial.value is None else f"{trial.value:.4f}"
        console.print(f"trial {trial.number + 1}: {value}  {weights}{'  *' if trial.best else ''}")

    with resumable():
        explainer = assay.fit(
            model.load(),
            data,
            method,
            output,
            split=split,
            validation=validation,
            columns=columns,
            label_map=label_map,
            limit=limit,
            validation_limit=validation_limit,
            search=search,
            threads=threads,
            save_seconds=save_seconds,
            overwrite=overwrite,
            on_start=print_sizes,
            on_check=print_check,
            on_trial=print_trial,
            **settings.given(),
        )
    card = explainer.card
    found = card["validation"]
    console.print(f"{card['metric']}: {found['best']:.4f}; of a random order: {found['random']:.4f}")
    gain = (found["best"] - found["random"]) * (1 if card["better"] == "higher" else -1)
    if not gain > 0:
        console.print(
            "warning: the explainer is no better than a random order: do not use it. Fit on more texts or for more "
            "epochs, and check that the model reacts to masking at all (assay evaluate).",
            style="yellow",
        )
    console.print(f"saved in {output}; use it with --method \"aml('{output}')\" or assay.load_explainer")


def _scores(check: Check) -> str:
    return ", ".join(f"{name} {value:.4f}" for name, value in check.scores.items())
