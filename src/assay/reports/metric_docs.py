"""Metric cards, read from what each metric's file says of itself: nothing is written twice."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Card:
    """What a reader must know before believing a number."""

    title: str  # what it is, from the file's first line
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


def card(metric: Any) -> Card:
    """The card of a metric, given as its class or as an instance, whose parameters are then shown."""
    cls: Any = metric if isinstance(metric, type) else type(metric)
    title, paper = _title(inspect.getdoc(importlib.import_module(cls.__module__)) or "")
    formula, note, weakness = _body(inspect.getdoc(cls) or "")
    return Card(title, paper, cls.facts.better, cls.facts.range, formula, note, weakness, _parameters(metric))


def _title(doc: str) -> tuple[str, str | None]:
    """The first line without its last bracket, which names the paper."""
    line = doc.split("\n\n")[0].replace("\n", " ").strip()
    found = re.fullmatch(r"(.*?)\s*\(([^()]*)\)\.?", line)
    return (found[1], found[2]) if found else (line.rstrip("."), None)


def _body(doc: str) -> tuple[str, str, str | None]:
    """Formula (the first paragraph), note (the rest) and weakness (what follows that word)."""
    text, _, weakness = doc.partition("Weakness:")
    formula, *rest = [" ".join(part.split()) for part in text.split("\n\n")]
    return formula, " ".join(part for part in rest if part), " ".join(weakness.split()) or None


def _parameters(metric: Any) -> str:
    given = [(f.name, getattr(metric, f.name, f.default)) for f in dataclasses.fields(metric) if f.init]
    return ", ".join(f"{name}={value}" for name, value in given)
