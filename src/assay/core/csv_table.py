"""Tables as CSV. Names and comments in them may come from strangers, and spreadsheets run what looks like a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

# Some spreadsheets also take the wide forms of East Asian keyboards, and look behind a line break.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def csv_table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str] | None = None) -> str:
    """CSV whose cells no spreadsheet takes for formulas: those get an apostrophe in front.

    columns: their order; by default as they first occur.
    """
    names = list(dict.fromkeys(name for row in rows for name in row)) if columns is None else columns
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(map(_cell, names))
    table.writerows([_cell(row.get(name, "")) for name in names] for row in rows)
    return out.getvalue()


def _cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value
