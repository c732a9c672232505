"""The numbers of the paper: Tables 1, 2, 3, 5, 6 and 7 (published.csv). Table 4 is the human study."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from assay.statistics.bootstrap import Interval

SMAT, OWN, ALL, LAST = "smat", "smat, own student", "attention, all layers", "attention, last layer"
GRADIENTS = ("gradient", "gradient_x_input", "integrated_gradients")
NAMES = {  # in the tables, by the spec in the plans
    "attention_logits": ALL,
    "attention_logits(layer=-1)": LAST,
    "integrated_gradients(steps=10, baseline=zero)": "integrated_gradients",
    "scaffold": SMAT,
    "scaffold, own student": OWN,
}


@dataclass(frozen=True)
class Published:
    """A median with its quartiles, or a single value."""

    value: float
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        digits = 2 if self.value > 1 else 4 if self.low is not None else 2
        quartiles = "" if self.low is None else f" [{self.low:.{digits}f}:{self.high:.{digits}f}]"
        return f"{self.value:.{digits}f}{quartiles}"


@cache
def published() -> dict[tuple[int, str, str, str], Published]:
    """By table, data, method and column (number of texts, normaliser, or text of a pair)."""
    with (Path(__file__).parent / "published.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {
        (int(r["table"]), r["data"], r["method"], r["column"]): Published(
            float(r["value"]), *((float(r["low"]), float(r["high"])) if r["low"] else ())
        )
        for r in rows
    }


def columns(table: int, data: str) -> list[str]:
    """The columns of a table for a data set, in the paper's order."""
    return list(dict.fromkeys(c for t, d, _, c in published() if (t, d) == (table, data)))


def points(bounds: Interval) -> str:
    """A difference in points with its interval."""
    return f"{100 * bounds.value:+.1f} [{100 * bounds.low:+.1f}, {100 * bounds.high:+.1f}]"


def short_name(method: str) -> str:
    """The name of a method in the tables; a control keeps its prefix."""
    prefix = "shuffled " if method.startswith("shuffled ") else ""
    name = method.removeprefix("shuffled ")
    own = name.endswith(", own student")
    if name.startswith("scaffold"):
        return prefix + (OWN if own else SMAT)
    return prefix + NAMES.get(name, name)
