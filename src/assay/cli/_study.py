"""What the commands that run studies share: reading data, and writing the page and the JSON."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from assay.core.errors import AssayError
from assay.reports.marks import figures


def finish(result: Any, table: Table, report: Path, as_json: Path | None) -> None:
    """The table, then the verdict (a terminal is read from its end), then the files."""
    console = Console(highlight=False)
    console.print(table)
    for sentence in result.verdict:
        console.print(f"\n{sentence}", style="bold", markup=False)
    result.to_html(report, command=shlex.join(["assay", *sys.argv[1:]]))
    console.print(f"\nwrote {report}", style="dim", markup=False, soft_wrap=True)
    if as_json is not None:
        _write(result.to_dict(), as_json)
        console.print(f"wrote {as_json}", style="dim", markup=False, soft_wrap=True)


def _write(content: dict[str, Any], path: Path) -> None:
    try:
        path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise AssayError(f"cannot write {path}: {error.strerror}") from error


def cell(value: float, low: float, high: float) -> Text:
    """The value with its interval."""
    shown, interval = figures(value, low, high)
    return Text(f"{shown} {interval}", justify="right", no_wrap=True)
