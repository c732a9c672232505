"""The result of a study in a notebook: its verdict, and tables of values with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.core.render import render
from assay.reports.symbols import format_interval


@dataclass(frozen=True)
class Line:
    """A method with its value and interval, and a word on it."""

    name: str
    value: float
    low: float
    high: float
    remark: str = ""

    @property
    def cells(self) -> tuple[str, str, str, str]:
        return self.name, *format_interval(self.value, self.low, self.high), self.remark


@dataclass(frozen=True)
class Block:
    """A table under its title."""

    title: str
    about: str
    lines: Sequence[Line]


def fragment(verdict: Sequence[str], about: str, blocks: Sequence[Block]) -> str:
    """A piece of HTML with inline styles only."""
    return render("reports/notebook.html.jinja", verdict=verdict, about=about, blocks=blocks)
