"""Plans: a small YAML of models, data and studies becomes jobs, each with the keys of the jobs it needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from assay.core.errors import AssayError, SpecError, nearest
from assay.core.spec import Spec, parse, split
from assay.experiments.job import Job, Kind, StudyContext
from assay.experiments.kinds import KINDS
from assay.experiments.plan_entries import data_named, models_named
from assay.experiments.references import DataReference, ExternalModel, TrainedModel
from assay.experiments.store import Store
from assay.experiments.worker import Worker
from assay.experiments.yaml_node import YamlNode, built

TOP = ("name", "seed", "data", "models", "studies")
TRAINED_ON = "trained_on"  # instead of a data set's name: whatever the model was trained on
RESERVED = ("train", "rows", "index", "models", "figures")  # files of a report
COMMON = ("kind", "models", "data")  # of every study


@dataclass(frozen=True)
class StudyCell:
    """One model and one data set of one study: what one table or page is about."""

    study: str
    kind: Kind
    model: ExternalModel | TrainedModel
    data: DataReference
    jobs: tuple[Job, ...]

    @property
    def name(self) -> str:
        return f"{self.study}: {self.model.name} on {self.data.name}"


@dataclass(frozen=True)
class Plan:
    """What there is to do. `jobs` come in an order in which each follows those that it needs."""

    name: str
    trainings: tuple[Job, ...]
    cells: tuple[StudyCell, ...]
    jobs: Mapping[str, Job] = field(default_factory=dict)  # by key; a job that two studies share is one


def read_plan(path: str | Path, store: Store) -> Plan:
    """The plan in a YAML file. Paths in it are relative to the current folder."""
    page = YamlNode.read(Path(path))
    return make_plan(page, store)


def make_plan(page: YamlNode, store: Store) -> Plan:
    """Models, data sets and studies, in this order; the store is where models that are trained already lie."""
    page.allow(TOP)
    data = data_named(page.at("data"))
    models, trainings = models_named(page.at("models"), data)
    cells = tuple(_cells(page, models, data, Worker(store)))
    found = [*trainings, *(job for cell in cells for job in cell.jobs)]
    return Plan(str(page.value("name") or page.name), trainings, cells, {job.key: job for job in found})


def _cells(
    page: YamlNode, models: Mapping[str, ExternalModel | TrainedModel], data: Mapping[str, DataReference], bench: Worker
) -> Iterator[StudyCell]:
    """Model by model, so that each from outside is read once to know its fingerprint."""
    studies = {name: _study(part, page.value("seed")) for name, part in page.at("studies").items()}
    wanted = {name: _models(page.at("studies").at(name), models) for name in studies}
    for model in models.values():
        for study, kind in studies.items():
            if model.name not in wanted[study]:
                continue
            where = page.at("studies").at(study)
            for chosen in _data(where, data, model):
                at = {"study": study, "model": model.name, **dict(model.about), "data": chosen.name}
                yield StudyCell(
                    study, kind, model, chosen, tuple(_jobs(kind, StudyContext(model, chosen, at, bench), where))
                )


def _jobs(kind: Kind, place: StudyContext, where: YamlNode) -> list[Job]:
    try:
        return kind.jobs(place)
    except AssayError as error:
        raise type(error)(f"{where.where} with {place.at['model']} on {place.at['data']}: {error}") from error


def _study(page: YamlNode, seed: Any) -> Kind:
    """The kind of a study with its settings; a study that names no kind is named like one."""
    if page.name in RESERVED or page.value_of("kind") in RESERVED:
        raise SpecError(f"{page.where}: the names {', '.join(RESERVED)} are taken; a training belongs under `models`")
    if page.is_text:
        spec = page.reading(parse, page.text)
        return built(page, spec, page.reading(KINDS.get, spec.name))  # type: ignore[no-any-return]
    name = str(page.value("kind") or page.name)
    cls = page.reading(KINDS.get, name)
    given = {key: value for key, value in page.mapping.items() if key not in COMMON}
    settings = [one.name for one in fields(cls)]  # without class variables such as `revision`
    if seed is not None and "seed" in settings:
        given = {"seed": seed, **given}
    page.allow([*COMMON, *settings])
    return built(page, Spec(name, tuple(given.items())), cls)  # type: ignore[no-any-return]


def _models(page: YamlNode, models: Mapping[str, ExternalModel | TrainedModel]) -> set[str]:
    """The names of a study's models; the name of a grid means all of it."""
    grids = [model.grid for model in models.values()]
    asked = page.names("models", [*grids, *models], default=grids)
    return {name for name, model in models.items() if name in asked or model.grid in asked}


def _data(
    page: YamlNode, data: Mapping[str, DataReference], model: ExternalModel | TrainedModel
) -> list[DataReference]:
    asked = page.names("data", [*data, TRAINED_ON], default=list(data))
    if TRAINED_ON in asked and not isinstance(model, TrainedModel):
        raise SpecError(
            f"{page.where}: data: {TRAINED_ON} means what a model of this plan was trained on, but {model.name} comes "
            "from outside; name its data sets"
        )
    own = [model.trained_on] if isinstance(model, TrainedModel) and TRAINED_ON in asked else []
    return list(dict.fromkeys([*own, *(data[name] for name in asked if name != TRAINED_ON)]))


# --- a part of a plan --------------------------------------------------------------------------------------------


def part_of(plan: Plan, only: Mapping[str, str]) -> Plan:
    """The plan with the cells where every name has one of the values asked for, and all that their jobs need.

    {"study": "roar,recursive", "seed": "1"}: so that processes may share a plan, each with its own part.
    """
    jobs = [job for cell in plan.cells for job in cell.jobs]
    wanted = {name: _known(name, values, jobs) for name, values in only.items()}
    kept = {job.key for job in jobs if all(str(job.at.get(name)) in values for name, values in wanted.items())}
    if only and not kept:
        raise SpecError(f"nothing of the plan {plan.name} has {', '.join(f'{k}={v}' for k, v in only.items())}")
    for key in reversed(list(plan.jobs)):  # what is needed comes before what needs it
        if key in kept:
            kept |= set(plan.jobs[key].needs)
    return replace(plan, jobs={key: job for key, job in plan.jobs.items() if not only or key in kept})


def _known(name: str, values: str, jobs: Sequence[Job]) -> list[str]:
    """The values, each of which some job has."""
    names = dict.fromkeys(known for job in jobs for known in job.at)
    if name not in names:
        raise SpecError(f"--only {name}={values}: {nearest(name, names)}")
    known = dict.fromkeys(str(job.at[name]) for job in jobs if name in job.at)
    for value in split(values):
        if value not in known:
            raise SpecError(f"--only {name}={value}: {nearest(value, known)}")
    return split(values)
