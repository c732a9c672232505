"""assay.train: fine-tune a classifier or a scorer for use with every other verb."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_type_hints

from assay.api.settings import as_field
from assay.core.errors import SpecError, nearest
from assay.core.notices import said_once
from assay.core.ranges import COUNT, NOT_NEGATIVE, check_range
from assay.datasets.columns import ColumnMap
from assay.datasets.dataset import Dataset
from assay.experiments.training_task import SELECTIONS, performance_metrics
from assay.experiments.worker import threads as limit_threads
from assay.training.classifier import TrainingResult, train_classifier
from assay.training.history import Check
from assay.training.recipe import LOSS, Recipe
from assay.training.scratch import is_scratch, parse_size
from assay.training.splits import training_data


@said_once
def train(
    base: str,
    data: Any,
    output: str | Path,
    recipe: str | Recipe = "recipe",
    *,
    split: str | None = None,
    validation: str | None = None,
    columns: ColumnMap | str | None = None,
    label_map: Mapping[str, str | None] | str | None = None,
    limit: int | None = None,
    validation_limit: int | None = None,
    max_length: int | None = None,
    task: str | None = None,
    device: str | None = None,
    threads: int | None = None,
    save_seconds: float = 60.0,
    overwrite: bool = False,
    on_start: Callable[[Dataset, Dataset], None] | None = None,
    on_check: Callable[[Check, bool], None] | None = None,
    **settings: Any,
) -> TrainingResult:
    """Fine-tune a model on a data set and save the best checkpoint in `output`. Rerun to resume.

    base: a pretrained folder or hub id, or a size such as "bert(layers=2, width=128)". data: anything `load_dataset`
    takes. recipe: a Recipe or its spec, e.g. "recipe(epochs=3, learning_rate=2e-5)". split, validation: names of
    splits; None is train and dev, or 10 % held out. columns: as in `load_dataset`. label_map: other names for labels,
    such as {"pos": "positive"}. task: classification or regression; None follows the labels. on_start: called with the
    two splits. on_check: called after every validation. settings: fields of `Recipe`, which take precedence over
    `recipe`.
    """
    for name, value in (("limit", limit), ("validation_limit", validation_limit), ("threads", threads)):
        check_range(name, value, COUNT)
    check_range("save_seconds", save_seconds, NOT_NEGATIVE)
    if is_scratch(base):
        parse_size(base)
    recipe = _recipe(recipe, settings)
    splits = training_data(
        data,
        split,
        validation,
        columns=columns,
        label_map=label_map,
        limit=limit,
        validation_limit=validation_limit,
        seed=recipe.seed,
    )
    kind = task or splits[0].task
    if recipe.selection == LOSS:
        recipe = replace(recipe, selection=SELECTIONS.get(kind, LOSS))
    metrics = performance_metrics(kind)
    if recipe.selection not in (LOSS, *metrics):
        allowed = nearest(recipe.selection, [LOSS, *metrics])
        raise SpecError(f"selection={recipe.selection!r} is not a score of a {kind} model; {allowed}")
    if on_start is not None:
        on_start(*splits)
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
            on_check=on_check,
        )


def _recipe(recipe: str | Recipe, settings: Mapping[str, Any]) -> Recipe:
    """The recipe with the settings that were given in place of its own."""
    names = [f.name for f in fields(Recipe)]
    for name in settings:
        if name not in names:
            raise SpecError(f"train has no setting {name!r}; {nearest(name, names)}")
    base = recipe if isinstance(recipe, Recipe) else Recipe.from_spec(recipe)
    hints = get_type_hints(Recipe)
    given: dict[str, Any] = {name: as_field(name, value, hints[name]) for name, value in settings.items()}
    return replace(base, **given)
