"""Documentation of metrics, read from their docstrings."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
from dataclasses import dataclass
from typing import Any

from assay.core.spec import file_name
from assay.core.user_code import is_outside


@dataclass(frozen=True)
class MetricDoc:
    """What a metric measures, and where it misleads."""

    title: str  # the first line of the module's docstring
    paper: str | None
    better: str
    range: str
    formula: str
    note: str
    weakness: str | None
    parameters: str

    @property
    def direction(self) -> str:
        return f"{self.better} is better"


def metric_doc(metric: Any) -> MetricDoc:
    """The documentation of a metric, given as a class or as an instance with its parameters."""
    cls: Any = metric if isinstance(metric, type) else type(metric)
    title, paper = _own_title(cls) if is_outside(cls) else _title(inspect.getdoc(_module(cls)) or "")
    formula, note, weakness = _body(inspect.getdoc(cls) or "")
    return MetricDoc(title, paper, cls.facts.better, cls.facts.range, formula, note, weakness, _parameters(metric))


def _module(cls: type) -> Any:
    return importlib.import_module(cls.__module__)


def _own_title(cls: type) -> tuple[str, str | None]:
    """The name of a user's metric in words: a file of theirs may hold several."""
    return file_name(cls.__name__).replace("_", " ").capitalize(), None


def _title(doc: str) -> tuple[str, str | None]:
    """Title and paper: the first line, and what its last brackets hold."""
    line = doc.split("\n\n")[0].replace("\n", " ").strip()
    match = re.fullmatch(r"(.*?)\s*\(([^()]*)\)\.?", line)
    return (match[1], match[2]) if match else (line.rstrip("."), None)


def _body(doc: str) -> tuple[str, str, str | None]:
    """Formula (first paragraph), note (the rest) and weakness (after "Weakness:")."""
    text, _, weakness = doc.partition("Weakness:")
    formula, *rest = [" ".join(part.split()) for part in text.split("\n\n")]
    return formula, " ".join(part for part in rest if part), " ".join(weakness.split()) or None


def _parameters(metric: Any) -> str:
    values = {f.name: getattr(metric, f.name, f.default) for f in dataclasses.fields(metric) if f.init}
    return ", ".join(f"{name}={value}" for name, value in values.items())
