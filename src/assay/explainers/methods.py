"""Turn the methods that a caller names into method objects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from assay.core.attributions import Attributions
from assay.core.errors import SpecError, UnsupportedError
from assay.core.spec import Spec, check_numbers, parse
from assay.core.types import Attribution
from assay.explainers import METHODS
from assay.explainers.learned.parts.method import LearnedMethod
from assay.explainers.protocols import BlackBox, Composite, Learned, Reader, why_not_a_method
from assay.models.model import Model

LEARNED = "assay.explainers.learned."


def named_methods(methods: Iterable[Any]) -> dict[str, Any]:
    """Method objects by the spec under which the caller asked for them."""
    by_name: dict[str, Any] = {}
    asked = list(methods)
    if not asked:
        raise SpecError("no method is named; give at least one, e.g. lime (`assay list methods` shows all)")
    for given in asked:
        method = METHODS.make(given) if isinstance(given, str | Spec) else given
        if isinstance(given, Attribution | Attributions):
            raise SpecError('explanations made elsewhere are not methods; give evaluate scores={"name": attributions}')
        if isinstance(given, type):
            raise SpecError(f"{given.__name__} is a class; give an object, {given.__name__}()")
        if (reason := why_not_a_method(method)) is not None:
            raise SpecError(f"{given!r} is not a method. {reason}")
        for name, value in getattr(
            method, "__dict__", {}
        ).items():  # an object was not built from a spec, which is checked
            check_numbers(name, value)
        by_name[_name(given, method, by_name)] = method
    return by_name


def _name(given: Any, method: Any, taken: Mapping[str, Any]) -> str:
    """The name of a method in tables: its spec as the caller wrote it.

    A method that names files has a `title` without their folders, which mean nothing on another machine.
    """
    title = getattr(method, "title", None)
    if title is None:
        return str(given) if isinstance(given, str | Spec) else str(Spec.of(given, full=False))
    return str(Spec.of(method, full=False)) if title in taken and taken[title] != method else str(title)


def pinned(given: Any) -> Any:
    """A spec that names fitted explainers as an object, which knows what their folders hold now; others as they are.

    Keys and pages are made from the object's own spec, which holds digests instead of the folders of this machine.
    """
    if not isinstance(given, str | Spec):
        return given
    spec = parse(given) if isinstance(given, str) else given
    return METHODS.make(spec) if _names_fitted(spec) else given


def _names_fitted(spec: Spec) -> bool:
    if (spec.args or spec.params) and METHODS.modules.get(spec.name, "").startswith(LEARNED):
        return issubclass(METHODS.get(spec.name), LearnedMethod)
    values = [*spec.args, *(value for _, value in spec.params)]
    inner = [item for value in values for item in (value if isinstance(value, tuple) else (value,))]
    return any(_names_fitted(item) for item in inner if isinstance(item, Spec))


def parts_of(method: Composite) -> list[Any]:
    """The methods that a composite combines."""
    return [METHODS.make(part) if isinstance(part, str | Spec) else part for part in method.parts]


def learned_parts(method: Any) -> list[LearnedMethod]:
    """The fitted explainers among a method and those that it combines."""
    if isinstance(method, Composite):
        return [found for part in parts_of(method) for found in learned_parts(part)]
    return [method] if isinstance(method, LearnedMethod) else []


def fit_jobs(methods: Iterable[Any]) -> tuple[str, ...]:
    """The keys of the jobs of a plan that fit the explainers among some methods."""
    keys = [part.job for method in methods for part in learned_parts(method) if part.job]
    return tuple(dict.fromkeys(keys))


def check_fitted(methods: Iterable[Any], model: Model) -> None:
    """Refuse explainers that were fitted to another model, before anything runs."""
    for method in methods:
        if isinstance(method, Learned):
            method.check_fitted(model)
        if isinstance(method, Composite):
            check_fitted(parts_of(method), model)


def default_method(model: Model) -> str:
    """The method of `explain` where the caller names none."""
    return "kernel_shap" if model.family.opaque else "integrated_gradients"


def check_visible(methods: Mapping[str, Any], model: Model) -> None:
    """Refuse methods that look inside a model of which only the answers can be seen, before anything is asked."""
    if model.family.opaque and (refused := [name for name, method in methods.items() if looks_inside(method)]):
        able = [name for name in METHODS.names if not looks_inside(METHODS.make(name))]
        raise UnsupportedError(
            f"{', '.join(refused)} cannot explain {model.name}, of which only the answers can be seen; "
            f"use {', '.join(able)}"
        )


def looks_inside(method: Any) -> bool:
    """Whether a method, or one that it combines, needs more than the outputs of masked inputs."""
    if isinstance(method, Composite):
        return any(map(looks_inside, parts_of(method)))
    return not isinstance(method, BlackBox | Reader)


def with_baseline(method: Any, removal: str | None) -> Any:
    """The method with its baseline set to the caller's removal, where the method leaves the baseline open."""
    if removal in (None, "delete") or getattr(method, "baseline", "") is not None:
        return method
    return replace(method, baseline=removal)
