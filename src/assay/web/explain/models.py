"""The models of a server: loaded once, each with its queue and the methods that work with it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from assay.api.fit import load_explainer
from assay.core.errors import AssayError, SpecError, nearest
from assay.core.spec import Spec, parse, split
from assay.datasets.dataset import Dataset
from assay.explainers import METHODS
from assay.explainers.learned.parts.method import LearnedMethod
from assay.explainers.methods import default_method, named_methods
from assay.explainers.trial import why_unsupported
from assay.masking.removal import REMOVALS
from assay.models.model import Model
from assay.web.queue import ModelQueue

MOST = 50_000  # samples, steps, ... of a method that a visitor may ask for
GROUPS = ("gradient", "perturbation", "attention", "decomposition", "learned", "search")  # in this order
FIRST = ("integrated_gradients", "kernel_shap", "occlusion")  # chosen at first, as far as they work


@dataclass(frozen=True)
class ServedModel:
    """A model with its queue. explainers: fitted ones by their names."""

    id: str
    model: Model
    queue: ModelQueue
    explainers: Mapping[str, Any]

    @property
    def title(self) -> str:
        return self.model.title

    @property
    def images(self) -> bool:
        return self.model.family.images

    @cached_property
    def groups(self) -> dict[str, list[str]]:
        """The methods that work with the model, by group."""
        groups: dict[str, list[str]] = {group: [] for group in GROUPS} | {"learned": list(self.explainers)}
        for name in METHODS.names:
            if not _reads_files(name) and why_unsupported(name, self.model) is None:
                groups.setdefault(METHODS.group(name), []).append(name)
        return {group: names for group, names in groups.items() if names}

    @cached_property
    def first_methods(self) -> list[str]:
        """Those that are chosen on an empty form: fitted explainers, then quick ones."""
        names = [name for group in self.groups.values() for name in group]
        quick = [name for name in FIRST if name in names] or [default_method(self.model)]
        return [*self.explainers, *quick][:4]

    @property
    def units(self) -> tuple[str, ...]:
        return ("patch",) if self.images else ("word", "token", "sentence")

    @cached_property
    def removals(self) -> list[str]:
        return [name for name in REMOVALS.names if REMOVALS.make(name).available(self.model) is None]

    def method(self, spec: str) -> Any:
        """The method that a visitor names. No path in it is followed, and no number in it may be huge."""
        if spec in self.explainers:
            return self.explainers[spec]
        parsed = parse(spec)
        _check(parsed)
        (method,) = named_methods([spec]).values()
        return method


def _reads_files(name: str) -> bool:
    """Whether a method reads a folder; visitors get only those that the server was started with."""
    return name in METHODS.names and issubclass(METHODS.get(name), LearnedMethod)


def _check(spec: Spec) -> None:
    if _reads_files(spec.name):
        raise SpecError(f"{spec.name} cannot be named here: start the server with --explainer FOLDER to offer one")
    for value in (*spec.args, *(value for _, value in spec.params)):
        _check_value(spec.name, value)


def _check_value(name: str, value: Any) -> None:
    if isinstance(value, Spec):
        _check(value)
    elif isinstance(value, tuple):
        for item in value:
            _check_value(name, item)
    elif isinstance(value, str):
        _check_text(value)
    elif isinstance(value, int | float) and abs(value) > MOST:
        raise SpecError(f"{name}: {value:.6g} is more than a visitor may ask for; give at most {MOST:,}")


def _check_text(text: str) -> None:
    """A text in a method may name methods itself, whose numbers and folders are limited like its own."""
    for word in re.findall(r"\w+", text):
        if _reads_files(word):
            _check(Spec(word))
    for part in split(text):
        try:
            inner = parse(part)
        except SpecError:  # no method
            continue
        _check(inner)


def serve_models(models: Sequence[Model], explainers: Iterable[str]) -> dict[str, ServedModel]:
    """The models by their ids. An explainer is offered with the models that it was fitted to."""
    fitted = [load_explainer(folder) for folder in explainers]
    served: dict[str, ServedModel] = {}
    for model in models:
        own = {method.title: method for method in fitted if _fits(method, model)}
        name = _id(model.title, served)
        served[name] = ServedModel(name, model, ModelQueue(model.title), own)
    for method in fitted:
        if not any(method.title in model.explainers for model in served.values()):
            method.check_fitted(models[0])  # says why
    return served


def _fits(method: LearnedMethod, model: Model) -> bool:
    try:
        method.check_fitted(model)
    except AssayError:
        return False
    return True


def _id(title: str, taken: Mapping[str, Any]) -> str:
    """A short name for addresses."""
    base = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:40] or "model"
    return next(name for i in range(1, len(taken) + 2) if (name := base if i == 1 else f"{base}-{i}") not in taken)


@dataclass(frozen=True)
class Explaining:
    """What the explain page works with."""

    models: Mapping[str, ServedModel]
    data: Dataset | None = None

    @property
    def first(self) -> ServedModel:
        return next(iter(self.models.values()))

    def model(self, model_id: str) -> ServedModel:
        if not model_id:
            return self.first
        if model_id not in self.models:
            raise SpecError(f"there is no model {model_id!r} on this server; {nearest(model_id, self.models)}")
        return self.models[model_id]

    def close(self) -> None:
        for served in self.models.values():
            served.queue.close()
