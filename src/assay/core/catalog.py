"""Names from file names, imported on use: a new method, removal or family is one new file and nothing else."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from assay.core.errors import SpecError, nearest
from assay.core.spec import Spec, build, class_name, parse


@dataclass(frozen=True)
class Catalog:
    """The public entries of a package: file `kernel_shap.py`, name "kernel_shap", class (or constant) `KernelShap`."""

    package: str
    kind: str  # what one entry is called in an error message
    skip: tuple[str, ...] = ()  # files of the package that are no entry
    deep: bool = False  # entries live one folder down (explainers/gradient/...), the folder being their group
    groups: tuple[str, ...] = ()  # only these folders; none named: all
    entry: str | None = None  # entries are folders (studies/roar/), each with its class in a file of this name

    @cached_property
    def modules(self) -> dict[str, str]:
        """Module path of every name; nothing is imported yet."""
        if self.entry is not None:
            return {m.name: f"{self.package}.{m.name}.{self.entry}" for m in _inside(self.package) if m.ispkg}
        found = {m.name: f"{home}.{m.name}" for home in self._homes for m in _inside(home) if not m.ispkg}
        return {name: found[name] for name in sorted(found) if not name.startswith("_") and name not in self.skip}

    @property
    def _homes(self) -> list[str]:
        if not self.deep:
            return [self.package]
        folders = [m.name for m in _inside(self.package) if m.ispkg]
        return [f"{self.package}.{name}" for name in folders if not self.groups or name in self.groups]

    @property
    def names(self) -> list[str]:
        return list(self.modules)

    def group(self, name: str) -> str:
        return self.modules[name].split(".")[-2]

    def get(self, name: str) -> Any:
        if name not in self.modules:
            raise SpecError(f"there is no {self.kind} {name!r}; {nearest(name, self.names)}")
        return getattr(importlib.import_module(self.modules[name]), class_name(name))

    def make(self, spec: str | Spec) -> Any:
        """The object that a spec describes."""
        spec = parse(spec) if isinstance(spec, str) else spec
        entry = self.get(spec.name)
        if isinstance(entry, type):
            return build(spec, entry)
        if spec.params or spec.args:
            raise SpecError(f"{spec}: {spec.name} has no parameters; write {spec.name!r}")
        return entry


def _inside(package: str) -> list[pkgutil.ModuleInfo]:
    return list(pkgutil.iter_modules(importlib.import_module(package).__path__))
