"""assay.train: fine-tune a classifier or a scorer for use with every other verb."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from assay.core.errors import SpecError, nearest
from assay.experiments.training_task import SELECTIONS, performance_metrics
from assay.experiments.worker import threads as limit_threads
from assay.training.classifier import TrainingResult, train_classifier
from assay.training.history import Check
from assay.training.recipe import LOSS, Recipe
from assay.training.splits import training_data


def train(
    base: str,
    data: str,
    output: str | Path,
    recipe: str | Recipe = "recipe",
    *,
    split: str | None = None,
    validation: str | None = None,
    columns: Mapping[str, str | None] | None = None,
    limit: int | None = None,
    validation_limit: int | None = None,
    max_length: int | None = None,
    task: str | None = None,
    device: str | None = None,
    threads: int | None = None,
    save_seconds: float = 60.0,
    overwrite: bool = False,
    watch: Callable[[Check, bool], None] | None = None,
) -> TrainingResult:
    """Fine-tune a model on a data set and save the best checkpoint in `output`. Rerun to resume.

    base: a pretrained folder or hub id, or a size such as "bert(layers=2, width=128)". recipe: a Recipe or its spec,
    e.g. "recipe(epochs=3, learning_rate=2e-5)". split, validation: names of splits; None is train and dev, or 10 %
    held out. task: classification or regression; None follows the labels. watch: called after every validation.
    """
    recipe = recipe if isinstance(recipe, Recipe) else Recipe.from_spec(recipe)
    splits = training_data(
        data, split, validation, columns=columns, limit=limit, validation_limit=validation_limit, seed=recipe.seed
    )
    kind = task or splits[0].task
    if recipe.selection == LOSS:
        recipe = replace(recipe, selection=SELECTIONS.get(kind, LOSS))
    metrics = performance_metrics(kind)
    if recipe.selection not in (LOSS, *metrics):
        raise SpecError(f"selection={recipe.selection}: {nearest(recipe.selection, [LOSS, *metrics])}")
    with limit_threads(threads):
        return train_classifier(
            base,
            *splits,
            recipe,
            output=Path(output),
            overwrite=overwrite,
            metrics=metrics,
            max_length=max_length,
            task=task,
            device=device,
            save_seconds=save_seconds,
            on_check=watch,
        )
