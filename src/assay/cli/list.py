"""`assay list methods | metrics | families | removals [names]`."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from assay.core.catalog import Catalog
from assay.core.errors import SpecError, nearest


class Kind(StrEnum):
    methods = "methods"
    metrics = "metrics"
    families = "families"
    removals = "removals"


@dataclass(frozen=True)
class Entry:
    """One line of the list, and what --long adds to it."""

    name: str
    line: str
    more: tuple[str, ...] = ()


LEGEND = (
    "per class: the scores depend on the class that is explained. complete: they sum to value(input) - value(all units "
    "removed). signed: below 0 means against the target.",
    "f forward pass, b backward pass, n units, T positions, D width, L layers, H heads. Memory comes on top of a "
    "plain forward pass; how much runs at once is bounded by batch_tokens. docs/methods_by_family.md has a table.",
)


def run(
    kind: Annotated[Kind, typer.Argument(help="what to list")],
    names: Annotated[list[str] | None, typer.Argument(help="only these")] = None,
    long: Annotated[
        bool, typer.Option("--long", help="formula, paper, weakness, properties, cost and families of each")
    ] = False,
) -> None:
    """List what there is, by the names to use in specs."""
    ways = {Kind.methods: _methods, Kind.metrics: _metrics, Kind.families: _families, Kind.removals: _removals}
    entries = _chosen(ways[kind](), names or [], kind)
    if long:
        _print_long(entries, LEGEND if kind == Kind.methods else ())
        return
    table = Table.grid(padding=(0, 2, 0, 0))
    for entry in entries:
        table.add_row(Text(entry.name, style="bold", no_wrap=True), Text(entry.line))
    Console().print(table)


def _chosen(entries: list[Entry], names: list[str], kind: Kind) -> list[Entry]:
    every = {entry.name: entry for entry in entries}
    for name in names:
        if name not in every:
            raise SpecError(f"there is no {name!r} among the {kind}; {nearest(name, every)}")
    return [every[name] for name in names] if names else entries


def _print_long(entries: list[Entry], legend: tuple[str, ...]) -> None:
    console = Console()
    for entry in entries:
        console.print(Text.assemble((entry.name, "bold"), ": ", entry.line, overflow="fold"))
        console.print(Padding(Text("\n".join(entry.more), overflow="fold"), (0, 0, 1, 4)))
    for line in legend:
        console.print(Text(line))


def _methods() -> list[Entry]:
    from assay.explainers import METHODS

    return [_method(name, METHODS) for name in METHODS.names]


def _method(name: str, methods: Catalog) -> Entry:
    from assay.explainers.supported import in_words

    cls = methods.get(name)
    words = [
        "signed" if cls.signed else "not signed",
        "complete" if cls.complete else "not complete",
        "per class" if cls.class_dependent else "the same for every class",
    ]
    parameters = ", ".join(f"{f.name}={f.default}" for f in dataclasses.fields(cls) if f.init)
    more = (
        *_paragraphs(cls),
        f"{methods.group(name)}; {', '.join(words)}; explains the {cls.scale} unless told otherwise",
        f"passes per input: {cls.passes}",
        f"memory per input: {cls.memory}",
        f"families: {in_words(name)}",
        f"parameters: {parameters or 'none'}",
    )
    return Entry(name, _summary(methods, name), more)


def _paragraphs(cls: type) -> list[str]:
    """Of a docstring, a line each; its weakness is one of its own."""
    parts = (inspect.getdoc(cls) or "").replace("Weakness:", "\n\nWeakness:").split("\n\n")
    return [" ".join(part.split()) for part in parts if part.strip()]


def _metrics() -> list[Entry]:
    from assay.evaluation import GOLD
    from assay.faithfulness import FAITHFULNESS

    found = [(FAITHFULNESS, name) for name in FAITHFULNESS.names]
    found += sorted(((GOLD, name) for name in GOLD.names), key=lambda pair: (GOLD.group(pair[1]), pair[1]))
    return [_metric(name, catalog) for catalog, name in found]


def _metric(name: str, metrics: Catalog) -> Entry:
    from assay.reports.metric_docs import metric_doc

    about = metric_doc(metrics.get(name))
    more = (
        about.formula,
        f"{metrics.group(name)}; {about.direction}; range {about.range}",
        *([about.note] if about.note else []),
        f"paper: {about.paper or 'none'}",
        f"weakness: {about.weakness or 'none known'}",
        f"parameters: {about.parameters or 'none'}",
    )
    return Entry(name, _summary(metrics, name), more)


def _families() -> list[Entry]:
    from assay.models.families import FAMILIES

    def more(family: Any) -> tuple[str, ...]:
        reads = "images" if family.images else "text from left to right" if family.causal else "text in both directions"
        return f"reads {reads}", f"model types: {', '.join(family.model_types)}"

    return [Entry(name, _summary(FAMILIES, name), more(FAMILIES.get(name))) for name in FAMILIES.names]


def _removals() -> list[Entry]:
    from assay.masking.removal import REMOVALS

    return [Entry(name, _summary(REMOVALS, name), (_doc(REMOVALS.get(name)),)) for name in REMOVALS.names]


def _summary(catalog: Catalog, name: str) -> str:
    """The first paragraph of the file's docstring."""
    return _doc(importlib.import_module(catalog.modules[name]))


def _doc(thing: Any) -> str:
    return " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())
