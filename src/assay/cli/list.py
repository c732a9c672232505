"""List methods, metrics, model families, removals, studies or presets, by the names to use in specs.

metrics: for `evaluate --metrics`. agreement: for `evaluate --agreement`. performance: for `train --selection` and the
requirements of a plan. attack_measures: reported by `attack`. studies: for plans. presets: for `--preset`.
"""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

import assay
from assay.api.catalogue import Entry, Kind
from assay.cli._options import OPTIONS, command_app, flag
from assay.core.console import Console
from assay.core.errors import SpecError, nearest

LEGEND = (
    "per class: the scores depend on the class that is explained. complete: they sum to value(input) - value(all units "
    "removed). signed: negative scores are evidence against the class.",
    "f forward pass, b backward pass, n units, T positions, D width, L layers, H heads. Memory is in addition to a "
    "plain forward pass; batch_tokens limits how much runs at once. docs/methods_by_family.md has a table.",
)
app = command_app("list", "assay list methods", "assay list methods lime occlusion --long", "assay list metrics --long")


@app.default
def list_entries(
    kind: Annotated[Kind, Parameter(help="What to list.")],
    /,
    *names: Annotated[str, Parameter(help="List only these names.")],
    long: Annotated[bool, flag("Add formula, paper, weakness, cost and parameters of each.", OPTIONS)] = False,
) -> None:
    entries = _select(assay.catalogue(kind), names, kind)
    if long:
        _print_long(entries, LEGEND if kind == "methods" else ())
        return
    table = Table.grid(padding=(0, 2, 0, 0))
    for entry in entries:
        table.add_row(Text(entry.name, style="bold", no_wrap=True), Text(entry.summary))
    Console().print(table)


def _select(entries: list[Entry], names: tuple[str, ...], kind: Kind) -> list[Entry]:
    by_name = {entry.name: entry for entry in entries}
    for name in names:
        if name not in by_name:
            raise SpecError(f"{name!r} is not in the list of {kind}; {nearest(name, by_name)}")
    return [by_name[name] for name in names] if names else entries


def _print_long(entries: list[Entry], legend: tuple[str, ...]) -> None:
    console = Console()
    for entry in entries:
        console.print(Text.assemble((entry.name, "bold"), ": ", entry.summary, overflow="fold"))
        console.print(Padding(Text("\n".join(entry.details), overflow="fold"), (0, 0, 1, 4)))
    for line in legend:
        console.print(Text(line))
