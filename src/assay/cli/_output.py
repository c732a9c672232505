"""Files that commands write, and tables that they print."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from assay.core.console import Console
from assay.core.errors import AssayError
from assay.reports.plain_json import plain


def check_writable(*paths: Path | None) -> None:
    """Refuse paths that cannot be written before the work starts."""
    for path in paths:
        if path is None:
            continue
        folder = path.absolute().parent
        if not folder.is_dir():
            raise AssayError(f"Cannot write {path}: the folder {folder} does not exist. Create it or name another.")
        if path.is_dir() or not os.access(path if path.exists() else folder, os.W_OK):
            raise AssayError(f"Cannot write {path}: it is a folder or write-protected. Name another file.")


def write_text(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise AssayError(f"Cannot write {path}: {error.strerror}") from error


def write_json(path: Path, content: Any) -> None:
    """Write JSON with null for NaN and infinity, which JSON does not have."""
    write_text(path, json.dumps(plain(content), indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def print_written(console: Console, *paths: Path | None) -> None:
    for path in paths:
        if path is not None:
            console.print(f"wrote {path}", style="dim", soft_wrap=True)


def command_line() -> str:
    """The command as the user typed it, for reports."""
    return shlex.join(["assay", *sys.argv[1:]])


def finish_study(result: Any, table: Table, report: Path, json: Path | None) -> None:
    """Print the table and then the verdict (the end is what a terminal shows), and write the files."""
    console = Console()
    console.print(table)
    for sentence in result.verdict:
        console.print(f"\n{sentence}", style="bold")
    result.to_html(report, command=command_line())
    if json is not None:
        write_json(json, result.to_dict())
    console.print()
    print_written(console, report, json)


def interval_cell(value: float, low: float, high: float, between: str = " ") -> Text:
    """A value with its confidence interval beside it, or below it if `between` is a line break."""
    from assay.reports.symbols import format_interval

    return Text(between.join(format_interval(value, low, high)), justify="right", no_wrap=True)
