"""assay.train: fine-tune a classifier or a scorer for use with every other verb."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assay.api.settings import with_settings
from assay.api.training_run import TrainingRun, takes_run
from assay.core.errors import SpecError, nearest
from assay.core.notices import said_once
from assay.experiments.training_task import SELECTIONS, performance_metrics
from assay.training.classifier import TrainingResult, train_classifier
from assay.training.recipe import LOSS, Recipe
from assay.training.scratch import is_scratch, parse_size


@said_once
@takes_run()
def train(
    base: str,
    data: Any,
    output: str | Path,
    recipe: str | Recipe = "recipe",
    *,
    max_length: int | None = None,
    task: str | None = None,
    device: str | None = None,
    **options: Any,
) -> TrainingResult:
    """Fine-tune a model on a data set and save the best checkpoint in `output`. Rerun to resume.

    base: a pretrained folder or hub id, or a size such as "bert(layers=2, width=128)". data: anything `load_dataset`
    takes. recipe: a Recipe or its spec, e.g. "recipe(epochs=3, learning_rate=2e-5)". split, validation: names of
    splits; None is train and dev, or 10 % held out. columns: as in `load_dataset`. label_map: other names for labels,
    such as {"pos": "positive"}. task: classification or regression; None follows the labels. on_start: called with the
    two splits. on_check: called after every validation. Other options are fields of `Recipe`, which take precedence
    over `recipe`.
    """
    run, settings = TrainingRun.taken_from(options)
    if is_scratch(base):
        parse_size(base)
    given = recipe if isinstance(recipe, Recipe) else Recipe.from_spec(recipe)
    recipe = with_settings(given, settings, "train")
    splits = run.splits(data, recipe.seed)
    metrics = performance_metrics(task or splits[0].task)
    recipe = _selecting(recipe, task or splits[0].task, metrics)
    with run.running():
        return train_classifier(
            base,
            *splits,
            recipe,
            output=Path(output),
            overwrite=run.overwrite,
            metrics=metrics,
            max_length=max_length,
            task=task,
            device=device,
            save_seconds=run.save_seconds,
            on_check=run.on_check,
        )


def _selecting(recipe: Recipe, kind: str, metrics: Mapping[str, Any]) -> Recipe:
    """The recipe with the score that selects the checkpoint of a kind of model."""
    recipe = recipe.selecting_by(SELECTIONS.get(kind, LOSS))
    if recipe.selection not in (LOSS, *metrics):
        allowed = nearest(recipe.selection, [LOSS, *metrics])
        raise SpecError(f"selection={recipe.selection!r} is not a score of a {kind} model; {allowed}")
    return recipe
