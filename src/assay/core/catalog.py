"""Catalogues of methods, metrics, removals, ...: one file per entry, imported on use, and what users add."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from assay.core.additions import Additions
from assay.core.errors import SpecError, nearest
from assay.core.spec import Spec, build, class_name, parse


@dataclass(frozen=True)
class Catalog:
    """The entries of a package: file `kernel_shap.py` defines "kernel_shap", a class (or constant) `KernelShap`."""

    package: str
    kind: str  # what an entry is called in error messages
    skip: tuple[str, ...] = ()  # files of the package that are not entries
    deep: bool = False  # entries are one folder down (explainers/gradient/...); the folder is their group
    groups: tuple[str, ...] = ()  # only these folders; empty for all
    suffix: str = ""  # of class names: aml.py defines AmlFit
    entry: str | None = None  # entries are folders (studies/roar/), each with its class in a file of this name
    added: Additions | None = None  # where users may add entries

    @cached_property
    def modules(self) -> dict[str, str]:
        """Module path by name; nothing is imported yet."""
        if self.entry is not None:
            return {m.name: f"{self.package}.{m.name}.{self.entry}" for m in _modules(self.package) if m.ispkg}
        paths = {m.name: f"{package}.{m.name}" for package in self._packages for m in _modules(package) if not m.ispkg}
        return {name: paths[name] for name in sorted(paths) if not name.startswith("_") and name not in self.skip}

    @property
    def _packages(self) -> list[str]:
        if not self.deep:
            return [self.package]
        folders = [m.name for m in _modules(self.package) if m.ispkg]
        return [f"{self.package}.{name}" for name in folders if not self.groups or name in self.groups]

    @property
    def names(self) -> list[str]:
        return [*self.modules, *(self.added.names if self.added else ())]

    def group(self, name: str) -> str:
        return self.modules[name].split(".")[-2] if name in self.modules else "added"

    def add(self, entry: Any) -> None:
        """Add an entry from outside Assay."""
        if self.added is None:
            raise SpecError(f"nothing can be added to the catalogue of a {self.kind}")
        self.added.add(entry, self.modules)

    def get(self, name: str) -> Any:
        added = self.added.get(name, self.modules) if self.added else None
        if added is not None:
            return added
        if name not in self.modules:
            raise SpecError(f"unknown {self.kind} {name!r}; {nearest(name, self.names)}")
        return getattr(importlib.import_module(self.modules[name]), class_name(name) + self.suffix)

    def make(self, spec: str | Spec) -> Any:
        """The entry that a spec names, built with the parameters of the spec."""
        spec = parse(spec) if isinstance(spec, str) else spec
        entry = self.get(spec.name)
        if isinstance(entry, type):
            return build(spec, entry)
        if spec.params or spec.args:
            raise SpecError(f"{spec}: {spec.name} takes no parameters; write {spec.name!r}")
        return entry


def _modules(package: str) -> list[pkgutil.ModuleInfo]:
    return list(pkgutil.iter_modules(importlib.import_module(package).__path__))
