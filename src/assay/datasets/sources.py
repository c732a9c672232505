"""Assay's own data sets: every module of this package whose function of the same name returns data.

A function whose first parameter is `dataset` transforms another data set. Specs: "babi_world(task=2, n=100)",
"augmented('reviews.csv', share=0.5)", "augmented(babi_world, split=dev)".
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from assay.core.additions import Additions
from assay.core.errors import InputError, SpecError, nearest
from assay.core.spec import Spec
from assay.datasets.build import build_dataset
from assay.datasets.dataset import Dataset

ADDED = Additions("data set", "assay.datasets", "assay.datasets.sources:why_not_a_source")


class _Sources(Mapping[str, Callable[..., Any]]):
    """Assay's own, and those that users added, each loaded when it is asked for."""

    def __getitem__(self, name: str) -> Callable[..., Any]:
        added: Callable[..., Any] | None = ADDED.get(name, own_sources())
        return own_sources()[name] if added is None else added

    def __iter__(self) -> Iterator[str]:
        yield from dict.fromkeys([*own_sources(), *ADDED.names])

    def __len__(self) -> int:
        return len(list(iter(self)))


def sources() -> Mapping[str, Callable[..., Any]]:
    """The functions that make the data sets, by name."""
    return _Sources()


def why_not_a_source(candidate: Any) -> str | None:
    """Return the reason why something cannot be used as a data set; None if it can."""
    if inspect.isfunction(candidate):
        return None
    return "Give a function such as `def my_data(n: int = 100) -> list[dict]`, which returns rows or Examples."


@cache
def own_sources() -> dict[str, Callable[..., Any]]:
    names = [module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)])]
    modules = {name: importlib.import_module(f"assay.datasets.{name}") for name in sorted(names)}
    members = {name: getattr(module, name, None) for name, module in modules.items()}
    return {name: member for name, member in members.items() if inspect.isfunction(member) and _returns_data(member)}


def _returns_data(function: Callable[..., Any]) -> bool:
    return function.__annotations__.get("return") in ("Dataset", "list[Example]")


def wraps(function: Callable[..., Any]) -> bool:
    """Whether the function transforms another data set."""
    return next(iter(inspect.signature(function).parameters), "") == "dataset"


def make_dataset(spec: Spec, split: str | None, load: Callable[..., Dataset]) -> Dataset:
    """Make the data set of a spec; `load` loads the data set it wraps."""
    function = sources()[spec.name]
    names = list(inspect.signature(function).parameters)
    args: list[Any] = list(spec.args)
    params: dict[str, Any] = dict(spec.params)
    if wraps(function):
        inner = args.pop(0) if args else params.pop("dataset", None)
        if inner is None:
            raise SpecError(f"{spec} needs another data set; write {spec.name}(builtin) or {spec.name}('reviews.csv')")
        params["dataset"] = load(inner if isinstance(inner, Spec) else str(inner), split=params.pop("split", split))
        names = names[1:]
    for key, value in [*zip(names, args, strict=False), *params.items()]:
        if key not in (*names, "dataset"):
            raise SpecError(f"{spec.name} has no parameter {key!r}; {nearest(key, names)}")
        params[key] = value
    return _call(function, params, spec)


def _call(function: Callable[..., Any], params: dict[str, Any], spec: Spec) -> Dataset:
    try:
        inspect.signature(function).bind(**params)
    except TypeError as error:
        raise SpecError(f"{spec}: {error}") from error
    try:
        data = function(**params)
    except TypeError as error:  # e.g. a word instead of a number
        raise SpecError(f"{spec}: a value has the wrong type ({error})") from error
    if not isinstance(data, Dataset | list | tuple):
        raise InputError(f"{spec} returned {type(data).__name__}; return a list of rows or Examples, or a Dataset")
    return data if isinstance(data, Dataset) else build_dataset(data, spec.name)
