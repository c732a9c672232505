"""The data sets and models that a plan names. One entry may be a grid of trainings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import partial
from itertools import product
from typing import Any

from assay.core.errors import SpecError
from assay.core.spec import Spec
from assay.experiments.job import Job
from assay.experiments.references import DataReference, ExternalModel, Pairs, TrainedModel
from assay.experiments.requirement import Requirement
from assay.experiments.training_task import Train, performance_metrics
from assay.experiments.yaml_node import YamlNode, built
from assay.training.recipe import LOSS

DATA = ("source", "split", "columns", "limit", "seed")
LOADED = ("load", "prompt", "labels", "device", "dtype")
GRID = {"train": "train", "on": "on", "recipe": "recipe", "seeds": "seed"}  # keys that may be lists, and their fields
TRAINED = (*GRID, *(f.name for f in fields(Train) if f.name not in GRID), "requires", "keep")


@dataclass(frozen=True)
class _Source:
    """The fields of a data set that are plain values, to be checked."""

    source: str
    split: str | None = None
    limit: int | None = None
    seed: int = 0

    def named(self, name: str, columns: Pairs | None) -> DataReference:
        return DataReference(name, self.source, self.split, columns, self.limit, self.seed)


@dataclass(frozen=True)
class _Loaded:
    """The fields of a model from outside that are plain values, to be checked."""

    load: str
    prompt: str | None = None
    device: str | None = None
    dtype: str | None = None

    def named(self, name: str, labels: tuple[tuple[str, str], ...] | None) -> ExternalModel:
        return ExternalModel(name, self.load, self.prompt, labels, self.device, self.dtype)


def data_named(page: YamlNode) -> dict[str, DataReference]:
    """Data sets by name; a text alone is the source."""
    return {name: _data(name, part) for name, part in page.items()}


def _data(name: str, page: YamlNode) -> DataReference:
    if page.is_text:
        return DataReference(name, page.text)
    page.allow(DATA)
    given = page.mapping
    if "source" not in given:
        raise SpecError(f"{page.where} has no source; write source: with what load_dataset takes")
    columns = given.pop("columns", None)
    made: DataReference = built(page, Spec("data", tuple(given.items())), _Source).named(name, _pairs(page, columns))
    return made


def _pairs(page: YamlNode, columns: Any) -> Pairs | None:
    if columns is None:
        return None
    if not isinstance(columns, dict):
        raise SpecError(f"{page.where}.columns: write role: column, e.g. {{text: review, label: stars}}")
    return tuple((str(role), None if column is None else str(column)) for role, column in columns.items())


def models_named(
    page: YamlNode, data: Mapping[str, DataReference]
) -> tuple[dict[str, ExternalModel | TrainedModel], tuple[Job, ...]]:
    """Models by name, and the trainings among them."""
    models: dict[str, ExternalModel | TrainedModel] = {}
    jobs: list[Job] = []
    for name, part in page.items():
        if part.is_text or "train" not in part.mapping:
            models[name] = _outside(name, part)
            continue
        for model, job in _trained(name, part, data):
            models[model.name] = model
            jobs.append(job)
    return models, tuple(jobs)


def _outside(name: str, page: YamlNode) -> ExternalModel:
    if page.is_text:
        return ExternalModel(name, page.text)
    if "load" not in page.mapping:
        raise SpecError(f"{page.where} says neither `load` (a folder or hub id) nor `train` (where a training starts)")
    page.allow(LOADED)
    given = page.mapping
    labels = given.pop("labels", None)
    if labels is not None and not isinstance(labels, dict):
        raise SpecError(f"{page.where}.labels: write name: word, e.g. {{positive: ' positive', negative: ' negative'}}")
    words = None if labels is None else tuple((str(k), str(v)) for k, v in labels.items())
    made: ExternalModel = built(page, Spec("model", tuple(given.items())), _Loaded).named(name, words)
    return made


def _trained(name: str, page: YamlNode, data: Mapping[str, DataReference]) -> Iterator[tuple[TrainedModel, Job]]:
    """A training per combination of the lists among train, on, recipe and seeds."""
    page.allow(TRAINED)
    given = page.mapping
    rule = page.at("requires").reading(Requirement.parse, str(given["requires"])) if given.get("requires") else None
    keep = bool(given.get("keep", False))
    page.names("on", data, default=[])
    if "on" not in given:
        raise SpecError(f"{page.where} does not say what it is trained on; write on: with a name under `data`")
    lists = {key: value if isinstance(value := given.get(key), tuple) else (value,) for key in GRID if key in given}
    for key in (key for key, values in lists.items() if not values):
        raise SpecError(f"{page.where}.{key} is an empty list, so that nothing is trained; give one or more")
    rest = {key: value for key, value in given.items() if key not in (*GRID, "requires", "keep")}
    for values in product(*lists.values()):
        chosen = dict(zip(lists, values, strict=True))
        varied = {GRID[key]: chosen[key] for key in lists if len(lists[key]) > 1}
        full = f"{name}({', '.join(f'{k}={v}' for k, v in varied.items())})" if varied else name
        chosen_fields = {GRID[key]: value for key, value in chosen.items()} | {"on": data[chosen["on"]]}
        kind: Train = built(page, Spec("train", tuple({**chosen_fields, **rest}.items())), Train)
        _check(page, rule, kind)
        about = {"grid": name, "base": kind.train, "trained_on": kind.on.name, "seed": kind.seed}
        job = page.reading(partial(kind.job, {"study": "train", "model": full, **about}, keep=keep))
        yield TrainedModel(full, job.key, kind.on, tuple(about.items()), rule, kind), job


def _check(page: YamlNode, rule: Requirement | None, kind: Train) -> None:
    """A rule about a score that the training will not have is an error now, not after it."""
    if rule is None:
        return
    task = kind.task or kind.parts()[0].task
    allowed = [LOSS, *performance_metrics(task)]
    if rule.score not in allowed:
        raise SpecError(f"{page.where}.requires: a {task} has no score {rule.score!r}; allowed: {', '.join(allowed)}")
