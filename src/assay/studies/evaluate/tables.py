"""The tables of a page: all metrics at a glance, one ranking per metric, costs, performance."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np

from assay.reports.method_style import MethodStyle, breakable
from assay.reports.plots import Axis, bar_axis, interval_bar
from assay.reports.symbols import Symbol, arrow, figures, legend, mark
from assay.statistics.bootstrap import Interval
from assay.statistics.sentences import number
from assay.statistics.verdict import Comparison, Standing
from assay.studies.evaluate.evaluation import Evaluation

# --- at a glance -----------------------------------------------------------------------------------------------------


def glance(comparisons: Mapping[str, Comparison], styles: Mapping[str, MethodStyle]) -> str:
    """Methods by metrics, a sign in every cell; who is in the best group most often stands first."""
    heads = "".join(
        f'<th scope="col"><div class="turn">{escape(metric)} <span aria-label="{c.better} is better">'
        f"{_turned(c.better)}</span></div></th>"
        for metric, c in comparisons.items()
    )
    rows = "".join(_glance_row(method, comparisons, styles[method]) for method in _by_success(comparisons, styles))
    table = (
        f'<table class="glance"><thead><tr><th scope="col">method</th>{heads}</tr></thead><tbody>{rows}</tbody></table>'
    )
    used = {mark(s, c).sign for c in comparisons.values() for s in c.standings}
    known = any(c.control for c in comparisons.values())
    signs = "".join(f"<li>{m.html}</li>" for m in legend(control=known) if m.sign in used)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="At a glance">{table}</div>'
        f'<ul class="legend">{signs}</ul>'
    )


def _turned(better: str) -> str:
    """The arrow as it must be written to point the right way in a heading that is turned by a quarter."""
    return "→" if better == "higher" else "←"


def _by_success(comparisons: Mapping[str, Comparison], styles: Mapping[str, MethodStyle]) -> list[str]:
    best, beats = Counter[str](), Counter[str]()
    for comparison in comparisons.values():
        for standing in comparison.standings:
            best[standing.method] += standing.best_group and standing.beats_random is not False
            beats[standing.method] += bool(standing.beats_random)
    return sorted(styles, key=lambda m: (styles[m].control, -best[m], -beats[m]))


def _glance_row(method: str, comparisons: Mapping[str, Comparison], face: MethodStyle) -> str:
    cells = "".join(_glance_cell(c[method], c) for c in comparisons.values())
    return f'<tr><th scope="row">{face.html}</th>{cells}</tr>'


def _glance_cell(standing: Standing, comparison: Comparison) -> str:
    shown: Symbol = mark(standing, comparison)
    value, interval = figures(standing.value, standing.low, standing.high)
    return (
        f'<td title="{value} {interval}, {shown.words}"><span class="s {shown.kind}" role="img" '
        f'aria-label="{shown.words}">{shown.sign}</span><span class="v">{value}</span></td>'
    )


# --- ranking ---------------------------------------------------------------------------------------------------------


def ranking(metric: str, comparison: Comparison, styles: Mapping[str, MethodStyle]) -> str:
    """Best first, with interval bars on one axis; a dashed line where the control is."""
    axis = bar_axis(comparison)
    reference = comparison[comparison.control].value if comparison.control else None
    rows = "".join(_ranking_row(s, comparison, styles[s.method], axis, reference) for s in comparison.standings)
    better = f"{arrow(comparison.better)} {comparison.better} is better"
    return (
        f'<figure><h3><span class="name">{breakable(metric)}</span> <small>{better} · n = {comparison.n}</small></h3>'
        f'<table class="ranking"><thead><tr><th scope="col">method</th><th scope="col">{_ends(axis)}</th>'
        f'<th scope="col" class="n">mean</th></tr></thead><tbody>{rows}</tbody></table></figure>'
    )


def _ends(axis: Axis) -> str:
    ends = f"<span>{number(axis.low)}</span><span>{number(axis.high)}</span>"
    return f'<span class="ends" title="the ends of the axis">{ends}</span>'


def _ranking_row(s: Standing, comparison: Comparison, face: MethodStyle, axis: Axis, reference: float | None) -> str:
    value, interval = figures(s.value, s.low, s.high)
    shown = mark(s, comparison)
    kind = ' class="best"' if shown.kind == "best" else ""
    return (
        f'<tr{kind}><th scope="row">{face.html}{shown.html}</th><td>{interval_bar(s, face, axis, reference)}</td>'
        f'<td class="n"><b>{value}</b><small>{interval}</small></td></tr>'
    )


# --- costs and performance -------------------------------------------------------------------------------------------


def costs(evaluation: Evaluation, styles: Mapping[str, MethodStyle]) -> str:
    """Passes and time per example, what the method takes alone, and a bar of the time."""
    seconds = {m: float(np.mean(evaluation.seconds[m])) for m in styles}
    most = max(seconds.values()) or 1.0
    rows = "".join(
        f'<tr><th scope="row">{face.html}<small>alone: {_alone(evaluation.methods[m])}</small></th>'
        + "".join(f'<td class="n">{number(float(v))}</td>' for v in evaluation.passes[m].mean(0))
        + f'<td class="n">{_time(seconds[m])}</td><td class="time">{_length(seconds[m] / most, face)}</td></tr>'
        for m, face in styles.items()
    )
    heads = "".join(f'<th scope="col" class="n">{name}</th>' for name in ("forward", "backward", "seconds"))
    return (
        f'<table class="costs"><thead><tr><th scope="col">method</th>{heads}<td class="time"></td></tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def _alone(method: Any) -> str:
    """What the method says of its own cost, in whole words."""
    words = {"f": "forward", "b": "backward"}
    return re.sub(r"\b[fb]\b", lambda hit: words[hit[0]], escape(str(method.facts.passes)))


def _time(seconds: float) -> str:
    return f"{seconds:.2g}" if seconds >= 0.001 else "&lt; 0.001"


def _length(share: float, face: MethodStyle) -> str:
    line = f'<rect width="{100 * share:.1f}%" height="10" rx="3" fill="{face.colour}" fill-opacity=".7"/>'
    return f'<svg class="bar" height="10" aria-hidden="true">{line}</svg>'


def performance_table(found: Mapping[str, Interval]) -> str:
    rows = ""
    for name, i in found.items():
        value, interval = figures(i.value, i.low, i.high)
        rows += (
            f'<tr><th scope="row">{breakable(name)}</th><td class="n">{value}</td><td class="n">{interval}</td></tr>'
        )
    heads = '<th scope="col" class="n">value</th><th scope="col" class="n">95 % interval</th>'
    return (
        f'<table class="doing"><thead><tr><th scope="col">measure</th>{heads}</tr></thead><tbody>{rows}</tbody></table>'
    )
