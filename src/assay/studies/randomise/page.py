"""The page of a layer randomisation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from assay.core.render import render
from assay.reports.method_style import MethodStyle, short_names
from assay.reports.plots import labelled_curves
from assay.reports.study_page import Fact, study_facts, study_warnings
from assay.reports.symbols import format_interval
from assay.studies.randomise.result import Randomised

INTRODUCTIONS = {
    "cascading": "All blocks from the last down to the given block are re-initialised.",
    "independent": "Only the given block is re-initialised; all others keep their weights.",
}


@dataclass(frozen=True)
class ModeSection:
    """Curves over all blocks, and a table of a few."""

    mode: str
    introduction: str
    plot: Markup
    blocks: Sequence[int]  # of the table, counted from 1
    rows: Sequence[tuple[MethodStyle, Sequence[tuple[str, str] | None]]]  # None: no correlation is defined
    outputs: Sequence[str]  # the model's mean output, intact and at each of the blocks


def page(result: Randomised, command: str | None = None) -> str:
    """The page; `command` is the command line that created it, if there was one."""
    facts = [Fact("methods", str(len(result.methods))), Fact("seeds", str(len(result.study.seeds)), "per block")]
    return render(
        "studies/randomise/page.html.jinja",
        title=f"Do explanations of {result.model.title} depend on what the model has learnt?",
        verdict=result.verdict,
        warnings=study_warnings(result.data, result.preset),
        preset=result.preset,
        facts=study_facts(result.model, result.data, facts, result.preset),
        modes=[_section(result, mode) for mode in result.study.modes if result.summary],
        scale=result.study.scale or f"as explained by {short_names(result.methods)[result.methods[0]]}",
        command=command,
        settings=result.settings,
        intervals_over="examples",
    )


def _section(result: Randomised, mode: str) -> ModeSection:
    blocks = list(reversed(range(result.model.n_blocks)))
    curves = {method: _curve(result.rows, method, mode, blocks) for method in result.methods}
    curves = {method: curve for method, curve in curves.items() if len(curve)}
    labels = ["full", *(str(block + 1) for block in blocks)]
    shown = list(dict.fromkeys([blocks[0], blocks[len(blocks) // 2], blocks[-1]]))
    correlations = {(r["method"], r["block"]): r for r in result.summary if r["mode"] == mode}
    return ModeSection(
        mode=mode,
        introduction=INTRODUCTIONS[mode],
        plot=labelled_curves(curves, labels, result.method_styles, mode, "block, last to first"),
        blocks=[block + 1 for block in shown],
        rows=[
            (style, [_cell(correlations.get((method, block))) for block in shown])
            for method, style in result.method_styles.items()
        ],
        outputs=[_shown(result.output(mode, block)) for block in (None, *shown)],
    )


def _curve(rows: Sequence[dict[str, Any]], method: str, mode: str, blocks: Sequence[int]) -> NDArray[np.float64]:
    """(N,1+L): the mean over seeds per example, starting with 1 for the intact model."""
    examples: dict[str, dict[int, list[float]]] = {}
    for row in rows:
        if row["method"] == method and row["mode"] == mode and row["spearman"] is not None:
            examples.setdefault(row["example"], {}).setdefault(row["block"], []).append(row["spearman"])
    return np.array([[1.0, *(float(np.mean(by_block[b])) for b in blocks)] for by_block in examples.values()])


def _cell(row: dict[str, Any] | None) -> tuple[str, str] | None:
    return None if row is None else format_interval(row["spearman"], row["low"], row["high"])


def _shown(output: float | None) -> str:
    return "–" if output is None else f"{output:.3g}"
