"""`assay list`: methods, metrics and everything else that a spec can name."""

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


class Listing(StrEnum):
    methods = "methods"
    metrics = "metrics"
    agreement = "agreement"
    performance = "performance"
    attack_measures = "attack_measures"
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
    listing: Annotated[Listing, typer.Argument(help="what to list")],
    names: Annotated[list[str] | None, typer.Argument(help="only these")] = None,
    long: Annotated[
        bool, typer.Option("--long", help="formula, paper, weakness, properties, cost and families of each")
    ] = False,
) -> None:
    """List the available methods, metrics, families and so on, by the names to use in specs.

    metrics: for `evaluate --metrics`. agreement: for `evaluate --agreement`. performance: of a model, for `train` and
    the requirements of a plan. attack_measures: reported by `attack`.
    """
    entries = _chosen(ENTRIES[listing](), names or [], listing)
    if long:
        _print_long(entries, LEGEND if listing == Listing.methods else ())
        return
    table = Table.grid(padding=(0, 2, 0, 0))
    for entry in entries:
        table.add_row(Text(entry.name, style="bold", no_wrap=True), Text(entry.line))
    Console().print(table)


def _chosen(entries: list[Entry], names: list[str], listing: Listing) -> list[Entry]:
    every = {entry.name: entry for entry in entries}
    for name in names:
        if name not in every:
            raise SpecError(f"{name!r} is not in the list of {listing}; {nearest(name, every)}")
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

    method = methods.make(name)
    facts = method.facts
    words = [
        "signed" if facts.signed else "not signed",
        "complete" if facts.complete else "not complete",
        "per class" if facts.class_dependent else "the same for every class",
    ]
    parameters = ", ".join(f"{f.name}={f.default}" for f in dataclasses.fields(method) if f.init)
    more = (
        *_paragraphs(type(method)),
        f"{methods.group(name)}; {', '.join(words)}; explains the {facts.scale} by default",
        f"passes per input: {facts.passes}",
        f"memory per input: {facts.memory}",
        f"families: {in_words(name)}",
        f"parameters: {parameters or 'none'}",
    )
    return Entry(name, _summary(methods, name), more)


def _paragraphs(cls: type) -> list[str]:
    """Of a docstring, a line each; its weakness is one of its own."""
    parts = (inspect.getdoc(cls) or "").replace("Weakness:", "\n\nWeakness:").split("\n\n")
    return [" ".join(part.split()) for part in parts if part.strip()]


def _metrics() -> list[Entry]:
    from assay.evaluation import METRICS

    return [_metric(name, METRICS) for name in METRICS.names]


def _agreement() -> list[Entry]:
    from assay.evaluation import AGREEMENT

    return [_metric(name, AGREEMENT) for name in AGREEMENT.names]


def _performance() -> list[Entry]:
    from assay.evaluation import PERFORMANCE

    return [_metric(name, PERFORMANCE) for name in PERFORMANCE.names]


def _attack_measures() -> list[Entry]:
    from assay.evaluation import ATTACK_MEASURES

    return [_metric(name, ATTACK_MEASURES) for name in ATTACK_MEASURES.names]


def _metric(name: str, metrics: Catalog) -> Entry:
    from assay.reports.metric_docs import card

    about = card(metrics.get(name))
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


ENTRIES = {
    Listing.methods: _methods,
    Listing.metrics: _metrics,
    Listing.agreement: _agreement,
    Listing.performance: _performance,
    Listing.attack_measures: _attack_measures,
    Listing.families: _families,
    Listing.removals: _removals,
}
