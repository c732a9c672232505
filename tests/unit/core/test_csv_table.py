"""Tables as CSV that no spreadsheet runs."""

from __future__ import annotations

import csv
import io

import pytest

from assay.core.csv_table import csv_table


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "＝"])
def test_no_cell_is_a_formula(start: str) -> None:
    """Neither a value nor a name of a column: both may come from the data."""
    text = f'{start}HYPERLINK("http://x"), "y"'
    first, second = csv.reader(io.StringIO(csv_table([{text: text}]), newline=""))
    assert first == second == [f"'{text}"]


def test_numbers_stay_numbers_and_missing_cells_are_empty() -> None:
    rows = [{"a": -1.5}, {"b": "x"}]
    assert csv_table(rows) == "a,b\n-1.5,\n,x\n"
    assert csv_table(rows, ["b"]) == 'b\n""\nx\n'
