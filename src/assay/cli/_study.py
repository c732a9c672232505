"""What the commands that run studies share: the table, the verdict and the files at their end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from assay.cli._output import command, write_json
from assay.reports.symbols import format_interval


def finish(result: Any, table: Table, report: Path, as_json: Path | None) -> None:
    """The table, then the verdict (a terminal is read from its end), then the files."""
    console = Console(highlight=False)
    console.print(table)
    for sentence in result.verdict:
        console.print(f"\n{sentence}", style="bold", markup=False)
    result.to_html(report, command=command())
    if as_json is not None:
        write_json(as_json, result.to_dict())
    console.print()
    for path in filter(None, (report, as_json)):
        console.print(f"wrote {path}", style="dim", markup=False, soft_wrap=True)


def cell(value: float, low: float, high: float, between: str = " ") -> Text:
    """The value with its interval beside it, or below it where several stand in a row."""
    return Text(between.join(format_interval(value, low, high)), justify="right", no_wrap=True)
