"""Plans: a YAML file of models, data and studies, turned into jobs that know which other jobs they need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from assay.core.errors import AssayError, SpecError, nearest
from assay.core.names import shareable
from assay.core.printable import one_line
from assay.core.spec import Spec, parse, split
from assay.core.user_code import load_plugin
from assay.experiments.file_cache import read_again
from assay.experiments.job import Job
from assay.experiments.plan_entries import TRAINED_ON, Models, named_models, read_data, read_models
from assay.experiments.plan_explainers import PlannedExplainers
from assay.experiments.preset import PresetUse, use_preset
from assay.experiments.references import DataReference, ExternalModel, TrainedModel
from assay.experiments.store import Store, open_store
from assay.experiments.study import STUDIES, Study, StudyCell, StudyContext
from assay.experiments.worker import Worker
from assay.experiments.yaml_node import YamlNode, build_node

TOP_KEYS = ("name", "seed", "plugins", "data", "models", "explainers", "studies")
STUDY_KEYS = ("kind", "preset", "models", "data")  # of every study
RESERVED = ("train", "fit", "rows", "index", "models", "figures")  # names of files in a report
NOT_YET = "0" * 64  # in place of the key of a fit, while a study is only checked


@dataclass(frozen=True, repr=False)
class Plan:
    """Everything to run. Each of `jobs` comes after those it needs."""

    name: str
    trainings: tuple[Job, ...]
    cells: tuple[StudyCell, ...]
    jobs: Mapping[str, Job] = field(default_factory=dict)  # by key; a job that two studies share appears once
    fits: tuple[Job, ...] = ()  # of explainers

    def __repr__(self) -> str:
        return f"<Plan {one_line(self.name)!r}: {len(self.jobs)} jobs of {', '.join(self.studies()) or 'no study'}>"

    def studies(self) -> dict[str, list[StudyCell]]:
        """The cells of every study, by its name in the plan."""
        cells: dict[str, list[StudyCell]] = {}
        for cell in self.cells:
            cells.setdefault(cell.name, []).append(cell)
        return cells


def open_plan(plan: str | Path | Plan, store: str | Path | Store | None) -> tuple[Plan, Store]:
    """A plan from its file, and the store it uses; None is the default store."""
    opened = open_store(store)
    return (plan if isinstance(plan, Plan) else read_plan(plan, opened)), opened


def read_plan(path: str | Path, store: Store) -> Plan:
    """Read a plan from a YAML file. Paths in it are relative to the current folder."""
    return make_plan(YamlNode.read(Path(path)), store)


def make_plan(root: YamlNode, store: Store) -> Plan:
    """Make the jobs of a plan; the store holds the models that are trained already."""
    read_again()
    root.allow(TOP_KEYS)
    _load_plugins(root)
    data = read_data(root.at("data"))
    models, trainings = read_models(root.at("models"), data)
    studies = _Studies(root, models, data, PlannedExplainers.read(root, models, data))
    fits, cells, worker = list[Job](), list[StudyCell](), Worker(store)
    for model in models.values():  # model by model, so that each external model is loaded once for its fingerprint
        fitted = studies.explainers.jobs(model, worker)
        fits += fitted.values()
        cells += studies.cells(model, {name: job.key for name, job in fitted.items()}, worker)
    fits = in_order(fits)
    jobs = [*trainings, *fits, *(job for cell in cells for job in cell.jobs)]
    name = str(root.value("name") or root.name)
    return Plan(name, trainings, tuple(cells), {job.key: job for job in jobs}, tuple(fits))


def in_order(jobs: Sequence[Job]) -> list[Job]:
    """The jobs, each after those among them that it needs."""
    by_key, out, placed = {job.key: job for job in jobs}, list[Job](), set[int]()

    def put(job: Job) -> None:
        if id(job) in placed:
            return
        placed.add(id(job))
        for key in job.needs:
            if key in by_key:
                put(by_key[key])
        out.append(job)

    for job in jobs:
        put(job)
    return out


def _load_plugins(root: YamlNode) -> None:
    """Load the user's own methods, metrics, ... before anything names them."""
    if root.value("plugins") is None:
        return
    for _, node in root.at("plugins").items():
        node.reading(load_plugin, node.text)


class _Studies:
    """The studies of a plan, checked before any model is loaded."""

    def __init__(
        self, root: YamlNode, models: Models, data: Mapping[str, DataReference], explainers: PlannedExplainers
    ) -> None:
        self.data, self.explainers, self.seed = data, explainers, root.value("seed")
        self.nodes = dict(root.at("studies").items())
        self.models = {name: named_models(node, models) for name, node in self.nodes.items()}
        self.checked = {
            name: _study(node, self.seed, explainers, dict.fromkeys(explainers.entries, NOT_YET))
            for name, node in self.nodes.items()
        }
        for name, (_, _, named) in self.checked.items():
            for explainer in named:
                self._check_fitted(name, explainer)

    def _check_fitted(self, study: str, explainer: str) -> None:
        lacking = sorted(self.models[study] - self.explainers.entries[explainer].models.keys())
        if lacking:
            raise SpecError(
                f"{self.nodes[study].where}: the explainer {explainer} is not fitted to {lacking[0]}; add it to "
                f"explainers.{explainer}.models, or name other models in the study"
            )

    def cells(
        self, model: ExternalModel | TrainedModel, keys: Mapping[str, str], worker: Worker
    ) -> Iterator[StudyCell]:
        """All studies of a model; keys: of the jobs that fit explainers to it."""
        for name, node in self.nodes.items():
            if model.name not in self.models[name]:
                continue
            study, preset, named = self.checked[name]
            if named:
                study, preset, _ = _study(node, self.seed, self.explainers, keys)
            for dataset in _datasets(node, self.data, model):
                tags = {"study": name, "model": model.name, **dict(model.tags), "data": dataset.name}
                tags = {tag: shareable(value) if isinstance(value, str) else value for tag, value in tags.items()}
                context = StudyContext(model, dataset, tags, worker, tuple(keys[explainer] for explainer in named))
                yield _cell(name, study, preset, context, node)


def _cell(name: str, study: Study, preset: PresetUse, context: StudyContext, node: YamlNode) -> StudyCell:
    """The study on one model and data set; a preset leaves out what the model does not support."""
    try:
        if preset.name:
            preset, study = preset.fit(study, context.loaded_model())
            preset, context = _with_limit(preset, context)
        return StudyCell(name, study, context.model, context.data, tuple(study.jobs(context)), preset.or_none)
    except AssayError as error:
        where = f"{node.where} with {context.tags['model']} on {context.tags['data']}"
        raise type(error)(f"{where}: {error}") from error


def _with_limit(preset: PresetUse, context: StudyContext) -> tuple[PresetUse, StudyContext]:
    """Data without a limit get that of the preset; other arguments of a verb have their place in a plan."""
    elsewhere = tuple(name for name in preset.own.call if name != "limit")
    preset, data, limit = replace(preset, elsewhere=elsewhere), context.data, preset.own.call.get("limit")
    if limit is None or not isinstance(data, DataReference):
        return preset, context
    if data.limit is not None:
        return replace(preset, given_call={"limit": data.limit}), context
    few = len(data.load())
    return replace(preset, too_few=few if few < limit else None), replace(context, data=replace(data, limit=limit))


def _study(
    node: YamlNode, seed: Any, explainers: PlannedExplainers, keys: Mapping[str, str]
) -> tuple[Study, PresetUse, list[str]]:
    """A study with its settings, its preset, and the explainers of the plan that it names.

    Without `kind`, its name in the plan is the kind. keys: of the jobs that fit the explainers.
    """
    if node.name in RESERVED or node.value_of("kind") in RESERVED:
        raise SpecError(
            f"{node.where}: a study cannot be called {', '.join(RESERVED)}. Rename it; trainings belong under `models`."
        )
    if node.is_text:
        spec = node.reading(parse, node.text)
        given = dict(spec.params)
        spec = replace(spec, params=tuple(node.reading(explainers.placed_in, given, keys).items()))
        study: Study = build_node(node, spec, node.reading(STUDIES.get, spec.name))
        return study, use_preset(None, spec.name, given), explainers.named_in(given)
    kind = str(node.value("kind") or node.name)
    cls = node.reading(STUDIES.get, kind)
    settings = {key: value for key, value in node.mapping.items() if key not in STUDY_KEYS}
    names = [f.name for f in fields(cls)]
    node.allow([*STUDY_KEYS, *names])
    used = node.reading(use_preset, node.value("preset"), kind, settings)
    settings = used.settings
    if seed is not None and "seed" in names:
        settings = {"seed": seed, **settings}
    placed = node.reading(explainers.placed_in, settings, keys)
    study = build_node(node, Spec(kind, tuple(placed.items())), cls)
    return study, used, explainers.named_in(settings)


def _datasets(
    node: YamlNode, data: Mapping[str, DataReference], model: ExternalModel | TrainedModel
) -> list[DataReference]:
    names = node.names("data", [*data, TRAINED_ON], default=list(data))
    if TRAINED_ON in names and not isinstance(model, TrainedModel):
        raise SpecError(
            f"{node.where}: `data: {TRAINED_ON}` needs a model that the plan trains, but {model.name} is loaded. "
            "Name its data sets."
        )
    own = [model.trained_on] if isinstance(model, TrainedModel) and TRAINED_ON in names else []
    return list(dict.fromkeys([*own, *(data[name] for name in names if name != TRAINED_ON)]))


# --- selection of jobs ---------------------------------------------------------------------------------------------


def select_jobs(plan: Plan, only: Mapping[str, str] | str) -> Plan:
    """The plan with only the jobs whose tags have the given values, and the jobs these need.

    {"study": "roar,recursive", "seed": "1"}, or one tag as a text, "seed=0,1": so that several processes can each run
    their part of a plan.
    """
    if not only:
        return plan
    if isinstance(only, str):
        tag, _, values = only.partition("=")
        only = {tag.strip(): values}
    jobs = [job for cell in plan.cells for job in cell.jobs]
    wanted = {tag: _tag_values(tag, values, jobs) for tag, values in only.items()}
    keys = {job.key for job in jobs if all(str(job.tags.get(tag)) in values for tag, values in wanted.items())}
    if not keys:
        pairs = ", ".join(f"{tag}={value}" for tag, value in only.items())
        raise SpecError(f"no job of the plan {plan.name} matches {pairs}.")
    for key in reversed(list(plan.jobs)):  # needs come before the jobs that need them
        if key in keys:
            keys |= set(plan.jobs[key].needs)
    return replace(plan, jobs={key: job for key, job in plan.jobs.items() if key in keys})


def _tag_values(tag: str, values: str, jobs: Sequence[Job]) -> list[str]:
    """The values of one --only option, checked against the tags of the jobs."""
    tags = dict.fromkeys(name for job in jobs for name in job.tags)
    if tag not in tags:
        raise SpecError(f"--only {tag}={values}: {nearest(tag, tags)}")
    known = dict.fromkeys(str(job.tags[tag]) for job in jobs if tag in job.tags)
    parts, wanted = [shareable(value) for value in split(values)], []
    while parts:
        taken = next((n for n in range(len(parts), 0, -1) if ", ".join(parts[:n]) in known), 0)
        if not taken:
            raise SpecError(f"--only {tag}={parts[0]}: {nearest(parts[0], known)}")
        wanted.append(", ".join(parts[:taken]))  # a name may hold a comma: scaffold, own student
        parts = parts[taken:]
    return wanted
