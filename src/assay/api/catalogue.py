"""assay.catalogue: the methods, metrics, families, ... that a spec can name."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal, get_args

from assay.core.additions import added_names
from assay.core.catalog import Catalog
from assay.core.errors import SpecError, nearest

Kind = Literal[
    "methods", "metrics", "agreement", "performance", "attack_measures", "families", "removals", "studies", "presets"
]
ADDED = {kind: f"assay.{kind}" for kind in ("methods", "metrics", "removals", "studies")}  # groups of entry points
FILE = "catalogue.json"  # read in place of the entries' modules, which import torch; a test keeps it up to date


@dataclass(frozen=True)
class Entry:
    """One name with its documentation."""

    name: str
    summary: str
    details: tuple[str, ...] = ()


def catalogue(kind: Kind) -> list[Entry]:
    """The names of one kind, with a summary and details (formula, paper, weakness, cost, parameters)."""
    if kind not in get_args(Kind):
        raise SpecError(f"unknown kind {kind!r}; {nearest(kind, get_args(Kind))}")
    stored = [Entry(e["name"], e["summary"], tuple(e["details"])) for e in _stored()[kind]]
    return stored + (_added(kind) if kind in ADDED else [])


@cache
def _stored() -> dict[str, list[dict[str, Any]]]:
    stored: dict[str, list[dict[str, Any]]] = json.loads(files("assay.api").joinpath(FILE).read_text(encoding="utf-8"))
    return stored


def describe_all() -> str:
    """The content of the file, from the entries themselves."""
    content = {kind: [asdict(entry) for entry in _DESCRIBE[kind]()] for kind in get_args(Kind)}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _added(kind: str) -> list[Entry]:
    """What users added. Without a plugin or an entry point, nothing is imported."""
    names = added_names(ADDED[kind])
    return [entry for entry in _DESCRIBE[kind]() if entry.name in names] if names else []


def _methods() -> list[Entry]:
    from assay.explainers import METHODS

    return [_method(name, METHODS) for name in METHODS.names]


def _method(name: str, methods: Catalog) -> Entry:
    from assay.explainers.supported import in_words

    method = methods.make(name)
    facts = method.facts
    properties = [
        "signed" if facts.signed else "not signed",
        "complete" if facts.complete else "not complete",
        "per class" if facts.class_dependent else "the same for every class",
    ]
    details = (
        *_paragraphs(type(method)),
        f"{methods.group(name)}; {', '.join(properties)}; explains the {facts.scale} by default",
        f"passes per input: {facts.passes}",
        f"memory per input: {facts.memory}",
        f"families: {in_words(name)}",
        f"parameters: {_parameters(type(method))}",
    )
    return Entry(name, _summary(methods, name), details)


def _metrics(constant: str) -> list[Entry]:
    catalog: Catalog = getattr(importlib.import_module("assay.evaluation"), constant)
    return [_metric(name, catalog) for name in catalog.names]


def _metric(name: str, metrics: Catalog) -> Entry:
    from assay.reports.metric_docs import metric_doc

    doc = metric_doc(metrics.get(name))
    details = (
        doc.formula,
        f"{metrics.group(name)}; {doc.direction}; range {doc.range}",
        *([doc.note] if doc.note else []),
        f"paper: {doc.paper or 'none'}",
        f"weakness: {doc.weakness or 'none known'}",
        f"parameters: {doc.parameters or 'none'}",
    )
    return Entry(name, _summary(metrics, name), details)


def _families() -> list[Entry]:
    from assay.models.families import FAMILIES

    def details(family: Any) -> tuple[str, ...]:
        reads = "images" if family.images else "text from left to right" if family.causal else "text in both directions"
        return f"reads {reads}", f"model types: {', '.join(family.model_types)}"

    return [Entry(name, _summary(FAMILIES, name), details(FAMILIES.get(name))) for name in FAMILIES.names]


def _removals() -> list[Entry]:
    from assay.masking.removal import REMOVALS

    return [Entry(name, _summary(REMOVALS, name), _paragraphs(REMOVALS.get(name))) for name in REMOVALS.names]


def _studies() -> list[Entry]:
    from assay.experiments.study import STUDIES

    def entry(name: str) -> Entry:
        question, *more = _paragraphs(STUDIES.get(name))
        return Entry(name, question, (*more, f"settings: {_parameters(STUDIES.get(name))}"))

    return [entry(name) for name in STUDIES.names]


def _presets() -> list[Entry]:
    from assay.experiments.preset import PRESETS, shown

    def details(preset: Any) -> Iterator[str]:
        yield f"paper: {preset.paper}"
        for kind, own in preset.studies.items():
            yield f"{kind}:"
            for name in dict.fromkeys([*own.values, *own.open]):
                value = f"{name}={shown(own.values[name])}" if name in own.values else f"{name} is not set"
                yield f"  {value}. {own.source(name)}"

    return [Entry(name, _summary(PRESETS, name), tuple(details(PRESETS.get(name)))) for name in PRESETS.names]


def _parameters(cls: type) -> str:
    given = [f for f in dataclasses.fields(cls) if f.init and f.metadata.get("given", f.metadata.get("spec", True))]
    parameters = [f"{f.name}={_shown(f.default)}" for f in given]
    return ", ".join(parameters) or "none"


def _shown(value: Any) -> str:
    return f"[{', '.join(map(str, value))}]" if isinstance(value, tuple) else str(value)


def _summary(catalog: Catalog, name: str) -> str:
    """The first paragraph of the docstring of an entry's file; of a user's class, that of the class."""
    if name not in catalog.modules:
        return (*_paragraphs(catalog.get(name)), "no description")[0]
    return _paragraphs(importlib.import_module(catalog.modules[name]))[0]


def _paragraphs(documented: Any) -> tuple[str, ...]:
    """The paragraphs of a docstring on a line each; the weakness is a paragraph of its own."""
    parts = (inspect.getdoc(documented) or "").replace("Weakness:", "\n\nWeakness:").split("\n\n")
    return tuple(" ".join(part.split()) for part in parts if part.strip())


_DESCRIBE: dict[str, Callable[[], list[Entry]]] = {
    "methods": _methods,
    "metrics": lambda: _metrics("METRICS"),
    "agreement": lambda: _metrics("AGREEMENT"),
    "performance": lambda: _metrics("PERFORMANCE"),
    "attack_measures": lambda: _metrics("ATTACK_MEASURES"),
    "families": _families,
    "removals": _removals,
    "studies": _studies,
    "presets": _presets,
}
