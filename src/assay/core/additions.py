"""What users add to a catalogue: classes that they register, and entry points of packages they install."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from assay.core.errors import SpecError
from assay.core.spec import file_name
from assay.core.user_code import source_hash

_all: list[Additions] = []


@dataclass(frozen=True)
class Additions:
    """Entries from outside Assay, by name; each is checked before it is used."""

    kind: str
    group: str  # of entry points, such as "assay.methods"
    check: str  # "module:function" that says why an entry cannot be used; imported only then
    entries: dict[str, Any] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        _all.append(self)

    @property
    def names(self) -> list[str]:
        return sorted({*self.entries, *_points(self.group)})

    def add(self, entry: Any, taken: Collection[str]) -> None:
        """Add a class or a function under its own name; the same one, defined again, takes its place."""
        name = name_of(entry)
        if (reason := self._why_not(entry)) is not None:
            raise SpecError(f"{name} is not a {self.kind}. {reason}")
        known = self.entries.get(name)
        if name in taken or (known is not None and _origin(known) != _origin(entry)):
            raise SpecError(f"there is a {self.kind} called {name!r} already; give yours another name")
        self.entries[name] = entry

    def get(self, name: str, taken: Collection[str] = ()) -> Any | None:
        """The entry with a name, or None; an entry point is loaded when it is first asked for."""
        point = _points(self.group).get(name)
        if point is not None and name not in self.entries:
            self._load(point, taken)
        return self.entries.get(name)

    def _load(self, point: EntryPoint, taken: Collection[str]) -> None:
        where = f"the entry point {point.name} = {point.value!r} in {self.group!r}"
        try:
            entry = point.load()
        except Exception as error:
            raise SpecError(f"{where} cannot be loaded: {type(error).__name__}: {error}") from error
        if name_of(entry) != point.name:
            raise SpecError(f"{where} must have the name of what it loads: {name_of(entry)}")
        try:
            self.add(entry, taken)
        except SpecError as error:
            raise SpecError(f"{where}: {error}") from error

    def _why_not(self, entry: Any) -> str | None:
        module, _, function = self.check.partition(":")
        reason: str | None = getattr(importlib.import_module(module), function)(entry)
        return reason


def name_of(entry: Any) -> str:
    """The public name of a class or function."""
    return file_name(entry.__name__) if isinstance(entry, type) else str(getattr(entry, "__name__", entry))


def added_names(group: str) -> list[str]:
    """The names that users added to a group, without importing the catalogue they belong to."""
    registered = {name for additions in _all if additions.group == group for name in additions.entries}
    return sorted(registered | set(_points(group)))


def code_named_in(text: str) -> dict[str, str]:
    """The source hash of every added class whose name is in a text; for the keys of records."""
    found = {name: entry for additions in _all for name, entry in additions.entries.items() if isinstance(entry, type)}
    return {name: source_hash(found[name]) for name in sorted(found) if re.search(rf"\b{re.escape(name)}\b", text)}


def _origin(entry: Any) -> tuple[str, str]:
    """Where an entry is defined; a file may be imported and be a plugin too."""
    module = sys.modules.get(entry.__module__)
    return getattr(module, "__file__", None) or entry.__module__, entry.__qualname__


@cache
def _points(group: str) -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=group)}
