"""assay.register: methods, metrics, removals, data sets and studies of one's own, by name."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, TypeVar, get_args

from assay.core import user_code
from assay.core.errors import SpecError, nearest

Entry = TypeVar("Entry")
Kind = Literal["method", "metric", "removal", "dataset", "study"]
CATALOGUES = {
    "method": ("assay.explainers", "METHODS"),
    "metric": ("assay.evaluation", "METRICS"),
    "removal": ("assay.masking.removal", "REMOVALS"),
    "study": ("assay.experiments.study", "STUDIES"),
}


def register(kind: Kind, entry: Any = None) -> Any:
    """Give a class (or the function of a data set) a name that specs, plans and commands can use.

    `@assay.register("method")` above `class MyMethod` makes "my_method" a method. kind: "method", "metric", "removal",
    "dataset" or "study". A name that is taken, or a class of another form, is an error.
    """
    if kind not in get_args(Kind):
        raise SpecError(f"unknown kind {kind!r}; {nearest(str(kind), get_args(Kind))}")
    if entry is None:
        return partial(register, kind)
    _add(kind)(entry)
    return entry


def load_plugin(plugin: str | Path) -> ModuleType:
    """Run a Python file that registers methods, metrics, ...; or import a module that does, by its name.

    The same as `--plugin` on the command line and `plugins` in a plan. Ray workers load it too.
    """
    return user_code.load_plugin(plugin)


def _add(kind: Kind) -> Callable[[Any], None]:
    if kind == "dataset":
        from assay.datasets.sources import ADDED, own_sources

        return partial(ADDED.add, taken=own_sources())
    module, constant = CATALOGUES[kind]
    add: Callable[[Any], None] = getattr(importlib.import_module(module), constant).add
    return add
