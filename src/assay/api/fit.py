"""assay.fit: fit an explainer to a model, and assay.load_explainer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assay.api.settings import with_settings
from assay.api.training_run import TrainingRun, takes_run
from assay.core.errors import SpecError, nearest
from assay.core.notices import said_once
from assay.core.spec import build, parse
from assay.explainers import METHODS
from assay.explainers.learned.parts.method import LearnedMethod
from assay.explainers.learned.parts.saved import found_folder, read_card
from assay.fitting import FITS
from assay.fitting.run import Fit, FitRun, OnTrial, check_output, fit_explainer
from assay.models.load import load_model

LIMITS = {"limit": 2000, "validation_limit": 200}  # default numbers of texts


@said_once
@takes_run(**LIMITS)
def fit(
    model: Any,
    data: Any,
    method: str | Fit = "aml",
    output: str | Path | None = None,
    *,
    progress: bool | None = None,
    on_trial: OnTrial | None = None,
    **options: Any,
) -> LearnedMethod:
    """Fit an explainer to a model: a method that explains any new input. Rerun to resume.

    model: anything `load_model` takes. data: anything `load_dataset` takes. method: what to fit, as a spec such as
    "aml(metric=sufficiency, masks=32)". output: the folder to save to; None keeps the explainer in memory. split,
    validation: names of splits; None is train and dev, or 10 % held out. columns, label_map: as in `load_dataset`.
    limit, validation_limit: numbers of texts, drawn at random; None for all. on_start: called with the two splits.
    on_check, on_trial: called after every validation, and after every trial of a search. Other options are settings of
    the method (fields of `AmlFit`), which take precedence over those in `method`.
    """
    run, settings = TrainingRun.taken_from(options, **LIMITS)
    chosen = fit_settings(method, settings)
    loaded = load_model(model)
    chosen.check_model(loaded)
    folder = None if output is None else check_output(Path(output), chosen, overwrite=run.overwrite)
    splits = run.splits(data, chosen.seed)
    with run.running():
        told = FitRun(folder, run.on_check, on_trial, progress, run.save_seconds)
        return fit_explainer(chosen, loaded, *splits, told)


def load_explainer(folder: str | Path) -> LearnedMethod:
    """Load a fitted explainer from a folder or hub id; it is a method for `explain`, `evaluate`, ..."""
    found = found_folder(str(folder))
    name = read_card(found)["method"]
    if name not in FITS.names:
        raise SpecError(f"{found.name} was fitted by {name!r}, which this version of Assay does not have; update it")
    explainer: LearnedMethod = METHODS.get(name).from_pretrained(found)
    return explainer


def fit_settings(method: str | Fit, settings: Mapping[str, Any]) -> Fit:
    """The settings of a fit from a spec, with those that were given in place of its own."""
    if not isinstance(method, str):
        return with_settings(method, settings, "fit")
    spec = parse(method)
    if spec.name not in FITS.names:
        raise SpecError(f"{spec.name!r} cannot be fitted; {nearest(spec.name, FITS.names)}")
    base: Fit = build(spec, FITS.get(spec.name))
    return with_settings(base, settings, f"fit {spec.name}")
