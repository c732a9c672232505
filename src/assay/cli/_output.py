"""Files that commands write, and tables that they print."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from assay.core.console import Console
from assay.core.files import write_file
from assay.core.names import shareable
from assay.reports.plain_json import plain

if TYPE_CHECKING:
    from assay.experiments.preset import PresetUse


def write_json(path: Path, content: Any) -> None:
    """Write JSON with null for NaN and infinity, which JSON does not have."""
    write_file(path, json.dumps(plain(content), indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def print_written(console: Console, *paths: Path | None) -> None:
    for path in paths:
        if path is not None:
            console.print(f"wrote {path}", style="dim", soft_wrap=True)


def command_line() -> str:
    """The command as the user typed it, for reports; without the folders of this machine, as reports are shared."""
    return shlex.join(["assay", *map(shareable, sys.argv[1:])])


def write_report(result: Any, report: Path) -> None:
    """Write the page of a result, also into the store, where `assay serve` finds it."""
    from assay.experiments.runs import keep_page

    result.to_html(report, command=command_line())
    keep_page(report)


def finish_study(result: Any, table: Table, report: Path, json: Path | None) -> None:
    """Print the table and then the verdict (the end is what a terminal shows), and write the files."""
    console = Console()
    console.print(table)
    print_preset(console, result.preset)
    for sentence in result.verdict:
        console.print(f"\n{sentence}", style="bold")
    write_report(result, report)
    if json is not None:
        write_json(json, result.to_dict())
    console.print()
    print_written(console, report, json)


def print_preset(console: Console, preset: PresetUse | None) -> None:
    """Which preset was used, what differs from it, and what it leaves out."""
    if preset is not None:
        console.print(f"\n{preset.summary}", style="dim")
        for warning in preset.warnings:
            console.print(f"warning: {warning}", style="yellow")


def interval_cell(value: float, low: float, high: float, between: str = " ") -> Text:
    """A value with its confidence interval beside it, or below it if `between` is a line break."""
    from assay.reports.symbols import format_interval

    return Text(between.join(format_interval(value, low, high)), justify="right", no_wrap=True)
