"""assay.fit: fit an explainer to a model, and assay.load_explainer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_type_hints

from assay.core.errors import SpecError, nearest
from assay.core.notices import said_once
from assay.core.ranges import COUNT, NOT_NEGATIVE, check_range
from assay.core.spec import Spec, build, check_numbers, check_type, parse
from assay.datasets.columns import ColumnMap
from assay.datasets.dataset import Dataset
from assay.experiments.worker import threads as limit_threads
from assay.explainers.learned.aml import Aml
from assay.fitting.aml import check_model, check_output, fit_aml
from assay.fitting.search import OnTrial, searched
from assay.fitting.settings import AmlFit
from assay.models.load import load_model
from assay.training.history import Check
from assay.training.splits import training_data

METHODS = ("aml",)  # what can be fitted
TEXTS, HELD_OUT = 2000, 200  # default numbers of texts


@said_once
def fit(
    model: Any,
    data: Any,
    method: str | AmlFit = "aml",
    output: str | Path | None = None,
    *,
    split: str | None = None,
    validation: str | None = None,
    columns: ColumnMap | str | None = None,
    label_map: Mapping[str, str | None] | str | None = None,
    limit: int | None = TEXTS,
    validation_limit: int | None = HELD_OUT,
    search: int | None = None,
    threads: int | None = None,
    save_seconds: float = 60.0,
    overwrite: bool = False,
    progress: bool | None = None,
    on_start: Callable[[Dataset, Dataset], None] | None = None,
    on_check: Callable[[Check, bool], None] | None = None,
    on_trial: OnTrial | None = None,
    **settings: Any,
) -> Aml:
    """Fit an explainer to a model: a method that explains any new input in one pass. Rerun to resume.

    model: anything `load_model` takes. data: anything `load_dataset` takes; labels are not needed. method: "aml" or a
    spec such as "aml(metric=sufficiency, masks=32)". output: the folder to save to; None keeps the explainer in memory.
    split, validation: names of splits; None is train and dev, or 10 % held out. limit, validation_limit: numbers of
    texts, drawn at random; None for all. search: first tune the weights of the losses (objective masking or both) in
    this many trials. on_start: called with the two splits. on_check, on_trial: called after every validation and trial.
    settings: fields of `AmlFit`, which take precedence over `method`.
    """
    for name, value in (("limit", limit), ("validation_limit", validation_limit), ("threads", threads)):
        check_range(name, value, COUNT)
    check_range("search", search, COUNT)
    check_range("save_seconds", save_seconds, NOT_NEGATIVE)
    chosen = fit_settings(method, settings)
    loaded = load_model(model)
    check_model(loaded, chosen)
    folder = None if output is None else check_output(Path(output), overwrite=overwrite)
    splits = training_data(
        data,
        split,
        validation,
        columns=columns,
        label_map=label_map,
        limit=limit,
        validation_limit=validation_limit,
        seed=chosen.seed,
    )
    if on_start is not None:
        on_start(*splits)
    with limit_threads(threads):
        if search is not None:
            chosen = searched(loaded, *splits, chosen, search, folder=folder, on_trial=on_trial, progress=progress)
        return fit_aml(
            loaded, *splits, chosen, folder=folder, on_check=on_check, progress=progress, save_seconds=save_seconds
        )


def load_explainer(folder: str | Path) -> Aml:
    """Load a fitted explainer from a folder or hub id; it is a method for `explain`, `evaluate`, ..."""
    return Aml.from_pretrained(folder)


def fit_settings(method: str | AmlFit, settings: Mapping[str, Any]) -> AmlFit:
    """The settings of a fit from a spec, with those that were given in place of its own."""
    if isinstance(method, AmlFit):
        base = method
    else:
        spec = parse(method)
        if spec.name not in METHODS:
            raise SpecError(f"{spec.name!r} cannot be fitted; {nearest(spec.name, METHODS)}")
        base = build(Spec(spec.name, spec.params, spec.args), AmlFit)
    names, hints = [f.name for f in fields(AmlFit)], get_type_hints(AmlFit)
    for name, value in settings.items():
        if name not in names:
            raise SpecError(f"fit has no setting {name!r}; {nearest(name, names)}")
        check_type(name, value, hints[name])
        check_numbers(name, value)
    return replace(base, **settings)
