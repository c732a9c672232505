"""The `data` and `models` entries of a plan. One model entry may be a grid of trainings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import partial
from itertools import product
from typing import Any

from assay.core.errors import SpecError
from assay.core.names import shareable
from assay.core.spec import Spec
from assay.experiments.job import Job
from assay.experiments.references import DataReference, ExternalModel, Pairs, TrainedModel
from assay.experiments.requirement import Requirement
from assay.experiments.training_task import TrainingTask, performance_metrics
from assay.experiments.yaml_node import YamlNode, build_node
from assay.training.recipe import LOSS

DATA_KEYS = ("source", "split", "columns", "label_map", "limit", "seed")
TRAINED_ON = "trained_on"  # in place of a data set's name: whatever the model was trained on
LOAD_KEYS = ("load", "prompt", "labels", "device", "dtype")
GRID = {"train": "train", "on": "on", "recipe": "recipe", "seeds": "seed"}  # keys that may be lists, and their fields
TRAIN_KEYS = (*GRID, *(f.name for f in fields(TrainingTask) if f.name not in GRID), "requires", "keep")

Models = Mapping[str, ExternalModel | TrainedModel]


@dataclass(frozen=True)
class _DataFields:
    """The plain values of a data set, for checking."""

    source: str
    split: str | None = None
    limit: int | None = None
    seed: int = 0


@dataclass(frozen=True)
class _LoadFields:
    """The plain values of an external model, for checking."""

    load: str
    prompt: str | None = None
    device: str | None = None
    dtype: str | None = None


def read_data(node: YamlNode) -> dict[str, DataReference]:
    """Data sets by name; a text alone is the source."""
    return {name: _data(name, entry) for name, entry in node.items()}


def _data(name: str, node: YamlNode) -> DataReference:
    if node.is_text:
        return DataReference(name, node.text)
    node.allow(DATA_KEYS)
    values = node.mapping
    if "source" not in values:
        raise SpecError(f"{node.where} has no `source`. Give a file, a folder, a hub id or a built-in name.")
    columns = _pairs(node, "columns", values.pop("columns", None), "`role: column`, e.g. {text: review, label: stars}")
    names = _pairs(node, "label_map", values.pop("label_map", None), "`old: new`, e.g. {pos: positive, neg: negative}")
    checked = build_node(node, Spec("data", tuple(values.items())), _DataFields)
    return DataReference(name, checked.source, checked.split, columns, checked.limit, checked.seed, names)


def _pairs(node: YamlNode, key: str, given: Any, form: str) -> Pairs | None:
    if given is None:
        return None
    if not isinstance(given, dict):
        raise SpecError(f"{node.where}.{key}: write {form}")
    return tuple((str(name), None if value is None else str(value)) for name, value in given.items())


def read_models(
    node: YamlNode, data: Mapping[str, DataReference]
) -> tuple[dict[str, ExternalModel | TrainedModel], tuple[Job, ...]]:
    """Models by name, and the jobs that train some of them."""
    models: dict[str, ExternalModel | TrainedModel] = {}
    jobs: list[Job] = []
    for name, entry in node.items():
        if entry.is_text or "train" not in entry.mapping:
            models[name] = _external_model(name, entry)
            continue
        for model, job in _trained_models(name, entry, data):
            models[model.name] = model
            jobs.append(job)
    return models, tuple(jobs)


def named_models(node: YamlNode, models: Models) -> set[str]:
    """The names of the models that an entry names; the name of a grid stands for all its models."""
    grids = [model.grid for model in models.values()]
    names = node.names("models", [*grids, *models], default=grids)
    return {name for name, model in models.items() if name in names or model.grid in names}


def _external_model(name: str, node: YamlNode) -> ExternalModel:
    if node.is_text:
        return ExternalModel(name, node.text)
    if "load" not in node.mapping:
        raise SpecError(
            f"{node.where} needs `load` (a folder or hub id) or `train` (the base model that a training starts from)."
        )
    node.allow(LOAD_KEYS)
    values = node.mapping
    labels = values.pop("labels", None)
    if labels is not None and not isinstance(labels, dict):
        raise SpecError(f"{node.where}.labels: write `name: word`, e.g. {{positive: ' good', negative: ' bad'}}")
    words = None if labels is None else tuple((str(k), str(v)) for k, v in labels.items())
    checked = build_node(node, Spec("model", tuple(values.items())), _LoadFields)
    return ExternalModel(name, checked.load, checked.prompt, words, checked.device, checked.dtype)


def _trained_models(name: str, node: YamlNode, data: Mapping[str, DataReference]) -> Iterator[tuple[TrainedModel, Job]]:
    """One training for every combination of the lists among train, on, recipe and seeds."""
    node.allow(TRAIN_KEYS)
    values = node.mapping
    required = values.get("requires")
    requirement = node.at("requires").reading(Requirement.parse, str(required)) if required else None
    keep = node.flag("keep")
    node.names("on", data, default=[])
    if "on" not in values:
        raise SpecError(f"{node.where} does not say what to train on. Add `on:` with a name from `data`.")
    lists = {key: value if isinstance(value := values[key], tuple) else (value,) for key in GRID if key in values}
    for key in (key for key, options in lists.items() if not options):
        raise SpecError(f"{node.where}.{key} is an empty list, so nothing would be trained. Give at least one value.")
    for key, options in lists.items():
        if twice := [value for i, value in enumerate(options) if value in options[:i]]:
            raise SpecError(f"{node.where}.{key}: {twice[0]} is given twice, but equal trainings are one. Remove one.")
    rest = {key: value for key, value in values.items() if key not in (*GRID, "requires", "keep")}
    for combination in product(*lists.values()):
        chosen = {GRID[key]: value for key, value in zip(lists, combination, strict=True)}
        varied = {GRID[key]: chosen[GRID[key]] for key in lists if len(lists[key]) > 1}
        full_name = f"{name}({', '.join(f'{k}={v}' for k, v in varied.items())})" if varied else name
        settings = {**chosen, "on": data[chosen["on"]], **rest}
        task: TrainingTask = build_node(node, Spec("train", tuple(settings.items())), TrainingTask)
        _check_score(node, requirement, task)
        tags = {"grid": name, "base": shareable(task.train), "trained_on": task.on.name, "seed": task.seed}
        job = node.reading(partial(task.job, {"study": "train", "model": full_name, **tags}, keep=keep))
        yield TrainedModel(full_name, job.key, task.on, tuple(tags.items()), requirement, task), job


def _check_score(node: YamlNode, requirement: Requirement | None, task: TrainingTask) -> None:
    """Refuse, before training, a requirement on a score that the training will not have."""
    if requirement is None:
        return
    kind = task.task or task.splits()[0].task
    allowed = [LOSS, *performance_metrics(kind)]
    if requirement.score not in allowed:
        raise SpecError(
            f"{node.where}.requires: {kind} has no score {requirement.score!r}; allowed: {', '.join(allowed)}"
        )
