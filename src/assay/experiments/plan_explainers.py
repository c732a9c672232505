"""The `explainers` of a plan: fits, and the names that studies give them among their methods."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any

from assay.core.errors import SpecError
from assay.core.names import shareable
from assay.core.spec import Spec, parse
from assay.experiments.fit_task import FitTask, folder_settings
from assay.experiments.job import Job
from assay.experiments.plan_entries import TRAINED_ON, Models, named_models
from assay.experiments.references import DataReference, ExternalModel, TrainedModel
from assay.experiments.study import StudyContext
from assay.experiments.worker import Worker
from assay.experiments.yaml_node import YamlNode, build_node
from assay.explainers import METHODS

KEYS = ("models", *(f.name for f in fields(FitTask) if f.name != "uses"), "keep")
Settings = Mapping[str, Any]


@dataclass(frozen=True)
class PlannedExplainer:
    """An entry: what is fitted, on what, and to which models."""

    node: YamlNode
    data: Mapping[str, DataReference]
    models: Models

    @property
    def method(self) -> str:
        """The method that explains with it, such as aml."""
        return str(self.node.reading(parse, str(self.node.value("fit"))).name)

    def job(self, model: ExternalModel | TrainedModel, worker: Worker, uses: Mapping[str, str]) -> Job:
        """The job that fits it to a model; uses: keys of the jobs of the explainers that its settings name."""
        task = replace(self.task(model), uses=tuple(uses.items()))
        tags = {"study": "fit", "model": model.name, **dict(model.tags), "data": task.on.name, "method": self.node.name}
        tags = {tag: shareable(value) if isinstance(value, str) else value for tag, value in tags.items()}
        context = StudyContext(model, task.on, tags, worker)
        return self.node.reading(partial(task.job, context, keep=self.node.flag("keep")))

    def task(self, model: ExternalModel | TrainedModel) -> FitTask:
        values = {key: value for key, value in self.node.mapping.items() if key not in ("models", "keep")}
        settings: dict[str, Any] = {**values, "on": self._data(values["on"], model)}
        task: FitTask = build_node(self.node, Spec("explainer", tuple(settings.items())), FitTask)
        return task

    def named(self, others: Collection[str]) -> dict[str, str]:
        """The explainers among `others` that its settings name, by setting."""
        settings = next(iter(self.task(model).settings for model in self.models.values()))
        given = {name: getattr(settings, name) for name in folder_settings(settings)}
        return {name: value for name, value in given.items() if value in others}

    def _data(self, name: str, model: ExternalModel | TrainedModel) -> DataReference:
        if name != TRAINED_ON:
            return self.data[name]
        if not isinstance(model, TrainedModel):
            raise SpecError(f"{self.node.where}: `on: {TRAINED_ON}` needs a model that the plan trains; name its data")
        return model.trained_on


@dataclass(frozen=True)
class PlannedExplainers:
    """The explainers of a plan by name."""

    entries: Mapping[str, PlannedExplainer] = field(default_factory=dict)

    @staticmethod
    def read(root: YamlNode, models: Models, data: Mapping[str, DataReference]) -> PlannedExplainers:
        if root.value("explainers") is None:
            return PlannedExplainers()
        return PlannedExplainers(dict(_entries(root.at("explainers"), models, data)))

    def jobs(self, model: ExternalModel | TrainedModel, worker: Worker) -> dict[str, Job]:
        """The jobs that fit explainers to a model, by the name of the explainer."""
        return {name: self._job(name, model, worker) for name, e in self.entries.items() if model.name in e.models}

    def _job(self, name: str, model: ExternalModel | TrainedModel, worker: Worker, below: tuple[str, ...] = ()) -> Job:
        """The job of a fit; those of the explainers that it takes weights from are made first."""
        entry = self.entries[name]
        if name in below:
            raise SpecError(f"{entry.node.where}: {' takes from '.join([*below, name])}, which never ends")
        uses = {
            setting: self._job(other, self._model_of(entry, other, model), worker, (*below, name)).key
            for setting, other in entry.named(self.entries).items()
        }
        return entry.job(model, worker, uses)

    def _model_of(
        self, entry: PlannedExplainer, other: str, model: ExternalModel | TrainedModel
    ) -> ExternalModel | TrainedModel:
        """The model whose explainer `other` is meant: the same one, or the only one that it is fitted to."""
        models = self.entries[other].models
        if model.name in models:
            return models[model.name]
        if len(models) == 1:
            return next(iter(models.values()))
        raise SpecError(
            f"{entry.node.where}: {other} is not fitted to {model.name}, but to {len(models)} other models; add it to "
            f"explainers.{other}.models"
        )

    def named_in(self, settings: Settings) -> list[str]:
        """The explainers among the methods of a study, also within other methods."""
        found: dict[str, None] = {}

        def note(name: str) -> str:
            found[name] = None
            return ""

        self._replaced(settings.get("methods"), note)
        return list(found)

    def placed_in(self, settings: Settings, keys: Mapping[str, str]) -> dict[str, Any]:
        """The settings of a study with specs of fitted explainers, which hold the keys of their jobs."""
        methods = settings.get("methods")
        return {**settings, **({} if methods is None else {"methods": self._replaced(methods, keys.__getitem__)})}

    def _replaced(self, value: Any, key_of: Callable[[str], str]) -> Any:
        if isinstance(value, tuple):
            return tuple(self._replaced(item, key_of) for item in value)
        if isinstance(value, str):
            head = value.partition("(")[0].strip()
            if value in self.entries or (head in self.entries and "(" in value) or "[" in value:
                replaced = self._replaced(parse(value), key_of)
                return value if replaced == parse(value) else str(replaced)
            return value
        if not isinstance(value, Spec):
            return value
        params = tuple((key, self._replaced(item, key_of)) for key, item in value.params)
        args = tuple(self._replaced(item, key_of) for item in value.args)
        if value.name not in self.entries:
            return Spec(value.name, params, args)
        if args:
            raise SpecError(f"{value}: the explainer {value.name} takes parameters by name, such as steps=10")
        own = (("explainer", value.name), ("job", key_of(value.name)))
        return Spec(self.entries[value.name].method, (*own, *params))


def _entries(
    node: YamlNode, models: Models, data: Mapping[str, DataReference]
) -> Iterator[tuple[str, PlannedExplainer]]:
    for name, entry in node.items():
        if name in METHODS.names:
            raise SpecError(f"{entry.where}: {name} is the name of a method; give the explainer another name")
        if not name.isidentifier():
            raise SpecError(f"{entry.where}: write the name of an explainer with letters, digits and _ only")
        entry.allow(KEYS)
        if missing := [key for key in ("fit", "on") if entry.value(key) is None]:
            raise SpecError(
                f"{entry.where} needs `{missing[0]}`: `fit: aml` says what is fitted, `on:` names the data."
            )
        if len(entry.names("on", [*data, TRAINED_ON], default=[])) != 1:
            raise SpecError(f"{entry.where}.on: name one data set")
        planned = PlannedExplainer(entry, data, _chosen(entry, models))
        for model in planned.models.values():
            planned.task(model)  # an unknown setting is an error now, not after a model was loaded
        yield name, planned


def _chosen(entry: YamlNode, models: Models) -> Models:
    """The models that an entry names, in the order of the plan."""
    names = named_models(entry, models)
    return {name: model for name, model in models.items() if name in names}
