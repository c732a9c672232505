"""The page of simulability: curves over the number of texts, a table per size, controls beside every method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from markupsafe import Markup

from assay.core.names import shareable
from assay.core.render import render
from assay.evaluation.simulability.verdict import (
    HURTS,
    NO_EFFECT,
    REGULARISES,
    TEACHES,
    UNDECIDED,
    Judged,
)
from assay.reports.method_style import MethodStyle
from assay.reports.plots import banded_curves
from assay.reports.study_page import Fact
from assay.reports.symbols import Symbol
from assay.studies.simulate.result import Simulated, Students
from assay.studies.simulate.scaffold import OWN
from assay.studies.simulate.study import NONE, SHUFFLED
from assay.studies.simulate.terminal import gain_cells

SYMBOLS = {
    TEACHES: Symbol("★", TEACHES, "best"),
    REGULARISES: Symbol("◐", REGULARISES, "open"),
    HURTS: Symbol("▼", HURTS, "bad"),
    NO_EFFECT: Symbol("○", NO_EFFECT, "open"),
    UNDECIDED: Symbol("○", UNDECIDED, "open"),
    None: Symbol("·", "control", "open"),
}
HELPED = Symbol("·", "no verdict: no shuffled control", "open")  # a student that learnt while heads were found


@dataclass(frozen=True)
class Row:
    style: MethodStyle
    mean: str
    cells: Sequence[str]
    underlined: bool
    verdict: Symbol


@dataclass(frozen=True)
class SizeTable:
    title: str
    rows: Sequence[Row]


@dataclass(frozen=True)
class Section:
    title: str
    score: str
    inputs: str
    plot: Markup | None
    tables: Sequence[SizeTable]


def page(result: Simulated, command: str | None = None) -> str:
    """The page; `command` is the command line that created it, if there was one."""
    return render(
        "studies/simulate/page.html.jinja",
        title="Do explanations help a student?",
        verdict=result.verdict or ["No students are finished yet."],
        warnings=list(dict.fromkeys(note for group in result.students for note in (*group.notes, *group.remarks))),
        preset=None,
        facts=[fact for group in result.students[:1] for fact in _facts(group)],
        sections=[_section(group, result.styles) for group in result.students],
        command=command,
        intervals_over="students and test examples",
    )


def _facts(group: Students) -> list[Fact]:
    study = group.study
    seeds = max((len(seeds) for seeds in group.seeds.values()), default=0)
    return [
        Fact("teacher", group.teacher),
        Fact("student", _student(study.student), f"reads {study.max_length} tokens" if study.max_length else ""),
        Fact("data", group.data, f"{len(group.answers):,} test {group.inputs} that no student has seen"),
        Fact("students", f"{seeds} per method", f"{study.subsets} {group.inputs}"),
        Fact("score", group.score, "with the teacher, without explanations"),
    ]


def _student(base: str | None) -> str:
    if base is None:
        return "what the teacher was trained from"
    return Path(base).name if Path(base).expanduser().is_dir() else shareable(base)


def _section(group: Students, styles: Mapping[str, MethodStyle]) -> Section:
    tables = [
        SizeTable(
            f"{size:,} {group.inputs} for each student", [_row(m, judged[m], group, styles) for m in _order(judged)]
        )
        for size, judged in group.judged.items()
    ]
    return Section(group.title, group.score, group.inputs, _plot(group, styles), tables)


def _order(judged: Mapping[str, Judged]) -> list[str]:
    return sorted(judged, key=lambda m: -judged[m].mean.value)


def _row(method: str, judged: Judged, group: Students, styles: Mapping[str, MethodStyle]) -> Row:
    low, high = judged.quartiles
    cells = [
        f"[{100 * judged.mean.low:.1f}, {100 * judged.mean.high:.1f}]",
        f"{100 * judged.median:.1f} [{100 * low:.1f}:{100 * high:.1f}]",
        *(text for control in (NONE, group.controls.get(method)) for text in gain_cells(judged, control)),
        f"{group.betas.get(method, 0):g}",
        f"{group.entropies[method]:.2f}" if method in group.entropies else "",
    ]
    symbol = HELPED if method.endswith(OWN) else SYMBOLS[judged.verdict]
    return Row(styles[method], f"{100 * judged.mean.value:.1f}", cells, judged.underlined, symbol)


def _plot(group: Students, styles: Mapping[str, MethodStyle]) -> Markup | None:
    """Means over students with intervals, for the methods and the controls none and uniform."""
    sizes = list(group.judged)
    if len(sizes) < 2:
        return None
    shown = [m for m in group.methods if not m.startswith(SHUFFLED)]
    shown = [m for m in shown if all(m in group.judged[size] for size in sizes)]
    means = {m: [group.judged[size][m].mean for size in sizes] for m in shown}
    return banded_curves(
        {m: np.array([i.value for i in rows]) for m, rows in means.items()},
        {m: (np.array([i.low for i in rows]), np.array([i.high for i in rows])) for m, rows in means.items()},
        [f"{size:,}" for size in sizes],
        styles,
        f"{group.score} with the teacher",
        f"{group.inputs} for each student",
    )
