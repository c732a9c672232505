"""The data sets that Assay itself has: a file of this folder whose function of the same name returns data is one.

A function whose first parameter is `dataset` wraps another data set. As a spec: "babi_world(task=2, n=100)",
"augmented('reviews.csv', share=0.5)", "augmented(babi_world, split=dev)".
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from assay.core.errors import SpecError, nearest
from assay.core.spec import Spec
from assay.datasets.dataset import Dataset
from assay.datasets.examples import dataset_of


def sources() -> dict[str, Callable[..., Any]]:
    """The functions by name."""
    names = [module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)])]
    modules = {name: importlib.import_module(f"assay.datasets.{name}") for name in sorted(names)}
    found = {name: getattr(module, name, None) for name, module in modules.items()}
    return {
        name: function for name, function in found.items() if inspect.isfunction(function) and _gives_data(function)
    }


def _gives_data(function: Callable[..., Any]) -> bool:
    return function.__annotations__.get("return") in ("Dataset", "list[Example]")


def wraps(function: Callable[..., Any]) -> bool:
    """Whether it changes another data set rather than making its own."""
    return next(iter(inspect.signature(function).parameters), "") == "dataset"


def make(spec: Spec, split: str | None, load: Callable[..., Dataset]) -> Dataset:
    """The data set of a spec; what it wraps comes from `load`."""
    function = sources()[spec.name]
    names = list(inspect.signature(function).parameters)
    args: list[Any] = list(spec.args)
    params: dict[str, Any] = dict(spec.params)
    if wraps(function):
        inner = args.pop(0) if args else params.pop("dataset", None)
        if inner is None:
            raise SpecError(f"{spec} wraps another data set; write {spec.name}(builtin) or {spec.name}('reviews.csv')")
        params["dataset"] = load(inner if isinstance(inner, Spec) else str(inner), split=params.pop("split", split))
        names = names[1:]
    for key, value in [*zip(names, args, strict=False), *params.items()]:
        if key not in (*names, "dataset"):
            raise SpecError(f"{spec.name} has no parameter {key!r}; {nearest(key, names)}")
        params[key] = value
    return _called(function, params, spec)


def _called(function: Callable[..., Any], params: dict[str, Any], spec: Spec) -> Dataset:
    try:
        inspect.signature(function).bind(**params)
    except TypeError as error:
        raise SpecError(f"{spec}: {error}; say all that {spec.name} needs") from error
    try:
        made = function(**params)
    except TypeError as error:  # a word where a number belongs
        raise SpecError(f"{spec}: a value is of the wrong kind ({error})") from error
    return made if isinstance(made, Dataset) else dataset_of(made, spec.name)
