"""assay.roar: do models get worse without the words that a method calls important?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, get_args

from assay.api.plan_data import plan_data
from assay.api.settings import not_none
from assay.core.errors import SpecError, nearest
from assay.core.notices import notice, said_once
from assay.core.ranges import COUNT, check_range
from assay.core.spec import as_list
from assay.datasets.columns import ColumnMap, as_columns
from assay.datasets.dataset import Dataset
from assay.datasets.label_map import LabelMap
from assay.datasets.load import load_dataset
from assay.datasets.splits import NoSplitError
from assay.evaluation.roar.curves import Score
from assay.experiments.engines import make_engine
from assay.experiments.plan import Plan, make_plan, select_jobs
from assay.experiments.preset import PresetUse, use_preset
from assay.experiments.references import without_folders
from assay.experiments.runner import Watch, run_plan
from assay.experiments.store import Store, open_store
from assay.experiments.yaml_node import YamlNode
from assay.models.families import FAMILIES
from assay.models.load import check_exists
from assay.studies.roar.curves import curves
from assay.studies.roar.result import RoarResult
from assay.studies.roar.study import METHODS
from assay.training.bilstm import PAIRED_RECIPE, SINGLE_RECIPE
from assay.training.scratch import is_scratch

Form = Literal["recursive", "roar", "measurable"]
BILSTM = "bilstm_attention"
TRAINING = ("limit", "validation_limit", "max_length")
CALL = ("forms", "seeds", "recipe", *TRAINING)  # arguments that are not settings of the study
DEFAULTS = {"forms": ("recursive",), "seeds": 5}
ENCODER_RECIPE = (  # the paper's for RoBERTa
    "recipe(epochs=3, batch_size=16, learning_rate=2e-05, betas=[0.9, 0.98], clip=None, selection={})"
)


@said_once
def roar(
    base: str,
    data: str,
    methods: Sequence[str] | str | None = None,
    *,
    preset: str | None = None,
    forms: Sequence[Form] | str | None = None,
    seeds: int | None = None,
    score: Score = "macro_f1",
    clip: bool = False,
    store: str | Path | Store | None = None,
    engine: str = "local",
    workers: int | None = None,
    address: str | None = None,
    threads: int | None = None,
    progress: bool | None = None,
    watch: Watch | None = None,
    **settings: Any,
) -> RoarResult:
    """Mask the words that methods rank first, retrain, and measure how far performance falls. Rerun to resume.

    base: a pretrained folder or hub id, or a family to train from random weights, such as "bilstm_attention" or
    "bert(layers=2, width=64)". data: a folder, hub id or spec with the splits train and test, and ideally dev. methods:
    the paper's measures or any specs; random is always included. forms: "recursive" (rank again after each retraining,
    the default), "roar" (rank once), "measurable" (one model fine-tuned with masks, no retraining). seeds: number of
    trainings; None is 5. preset: all settings of a paper, such as "roar" (`assay list presets`); what is given beside
    it takes precedence. score: macro_f1, micro_f1 or accuracy. clip: clip areas to [-1, 1], as published code does.
    engine, workers, address, threads: as in `run`. settings: see `roar_plan`.
    """
    if score not in get_args(Score):
        raise SpecError(f"score={score!r}: {nearest(score, get_args(Score))}")
    runner = make_engine(engine, workers=workers, address=address, threads=threads)
    opened = open_store(store)
    given = {"methods": methods, "forms": forms, "seeds": seeds, **settings}
    roles, names = given.pop("columns", None), given.pop("label_map", None)
    plan, used = _planned(base, data, preset, given, roles, names, opened)
    status = run_plan(plan, opened, runner, progress=progress, watch=watch)
    for warning in used.warnings:
        notice("result", warning)
    return RoarResult(curves(plan.cells, opened), score, clip, status, used.or_none)


def roar_plan(
    base: str,
    data: str,
    methods: Sequence[str] | str | None = None,
    *,
    preset: str | None = None,
    forms: Sequence[Form] | str | None = None,
    seeds: int | None = None,
    store: str | Path | Store | None = None,
    recipe: str | None = None,
    limit: int | None = None,
    validation_limit: int | None = None,
    max_length: int | None = None,
    columns: ColumnMap | str | None = None,
    label_map: LabelMap | str | None = None,
    **settings: Any,
) -> Plan:
    """The plan that `roar` runs.

    recipe: how to train; None is the paper's. limit, validation_limit: random subsets of the splits. columns,
    label_map: as in `load_dataset`.
    settings: by, step, last, signed, target, test, test_limit, batch_tokens of the study `Roar`.
    """
    given = {"methods": methods, "forms": forms, "seeds": seeds, "recipe": recipe, **settings}
    training = {"limit": limit, "validation_limit": validation_limit, "max_length": max_length}
    return _planned(base, data, preset, {**given, **training}, columns, label_map, open_store(store))[0]


def _planned(
    base: str,
    data: str,
    preset: str | None,
    given: dict[str, Any],
    columns: ColumnMap | str | None,
    label_map: LabelMap | str | None,
    store: Store,
) -> tuple[Plan, PresetUse]:
    """The plan, and the preset with what was given beside it."""
    if not isinstance(data, str):
        raise SpecError(f"roar reads its data by name, not from a {type(data).__name__}; save the splits in a folder")
    given = not_none(given)
    call = {name: as_list(given.pop(name)) if name == "forms" else given.pop(name) for name in CALL if name in given}
    used, roles = use_preset(preset, "roar", given, call), as_columns(columns)
    base = f"{base}()" if base in FAMILIES.names else base
    if not is_scratch(base):
        check_exists(base)
    used, methods = _methods(used, base)
    settings, arguments = {**used.settings, "methods": methods}, {**DEFAULTS, **used.call}
    content = _content(base, data, roles, label_map, settings, arguments)
    plan = make_plan(YamlNode("roar", "roar", content), store)
    return select_jobs(plan, {"study": ",".join(content["studies"])}), used  # measurable models need no other model


def _methods(used: PresetUse, base: str) -> tuple[PresetUse, list[str]]:
    """The methods; of those that nobody gave, the paper's attention is the BiLSTM's."""
    methods = as_list(used.settings.get("methods", METHODS))
    if "methods" in used.given or base.startswith(BILSTM):
        return used, methods
    if used.name and "attention" in methods:
        used = replace(used, left_out={"attention": f"the paper's attention is that of {BILSTM}"})
    return used, [method for method in methods if method != "attention"]


def _content(
    base: str,
    data: str,
    roles: ColumnMap | None,
    label_map: LabelMap | str | None,
    settings: dict[str, Any],
    call: dict[str, Any],
) -> dict[str, Any]:
    """The plan as a file would write it."""
    for form in call["forms"]:
        if form not in get_args(Form):
            raise SpecError(f"unknown form {form!r}; {nearest(str(form), get_args(Form))}")
    name = without_folders(data)
    training = {key: call[key] for key in TRAINING if key in call}
    recipe = call.get("recipe") or _paper_recipe(base, data, roles)
    check_range("seeds", call["seeds"], COUNT)
    seeds = list(range(call["seeds"]))
    return {
        "name": "roar",
        "data": {name: plan_data(data, roles, label_map)},
        "models": {"model": {**training, "train": base, "on": name, "seeds": seeds, "recipe": recipe}},
        "studies": {form: _study(form, settings) for form in call["forms"]},
    }


def _study(form: Form, settings: dict[str, Any]) -> dict[str, Any]:
    """A study as a plan writes it."""
    given = {key: value for key, value in settings.items() if value is not None}
    if form != "measurable":
        return {"kind": "roar", "data": "trained_on", **given, "recursive": form == "recursive"}
    if given.pop("by", "share") != "share" or "last" in given:
        raise SpecError("a measurable model is masked by shares up to 100 %; leave out by=count and last.")
    return {"kind": "measurable", "data": "trained_on", **given}


def _paper_recipe(base: str, data: str, columns: ColumnMap | None) -> str:
    """The paper's recipe; the best epoch is chosen by AUROC for single texts, by accuracy for pairs."""
    pairs = _training_split(data, columns)[0].text_pair is not None
    if not base.startswith(BILSTM):
        return ENCODER_RECIPE.format("accuracy" if pairs else "auroc")
    return PAIRED_RECIPE if pairs else SINGLE_RECIPE


def _training_split(data: str, columns: ColumnMap | None) -> Dataset:
    try:
        return load_dataset(data, split="train", columns=columns)
    except NoSplitError as error:
        if Path(data).is_file():
            raise NoSplitError(
                f"roar trains on one split and tests on another, but {Path(data).name} is a single file; give a folder "
                "with train, dev and test files"
            ) from error
        raise
