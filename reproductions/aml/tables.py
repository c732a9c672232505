"""The tables of the results page."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.statistics.claims import Finding
from assay.statistics.verdict import compare

from .claims import CLAIMS
from .evidence import Cell, Evidence
from .published import METRICS, paper_value

ARROWS = {metric: "↑" if "comprehensiveness" in metric else "↓" for metric in METRICS}


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"


def method_table(e: Evidence, cell: Cell) -> str:
    """A row per method, best comprehensiveness first, with the paper's number in brackets; bold: in the best group."""
    found = e.values.get(cell, {})
    metrics = [metric for metric in METRICS if metric in found]
    standings = {}
    for metric in metrics:
        shared = set.intersection(*(set(values) for values in found[metric].values()))
        columns = {m: np.array([values[x] for x in sorted(shared)]) for m, values in found[metric].items()}
        better = "higher" if ARROWS[metric] == "↑" else "lower"
        standings[metric] = compare(columns, better, control="random" if "random" in columns else None)
    if not metrics:
        return "Not run yet.\n"
    lead = "comprehensiveness" if "comprehensiveness" in standings else metrics[0]
    rows = [
        [s.method, *(_cell(standings[m][s.method], cell, m) for m in metrics), _passes(e, cell, s.method)]
        for s in standings[lead].standings
    ]
    return table(["method", *(f"{m} {ARROWS[m]}" for m in metrics), "passes"], rows)


def _cell(standing: object, cell: Cell, metric: str) -> str:
    number = f"{standing.value:.3f}"  # type: ignore[attr-defined]
    shown = f"**{number}**" if standing.best_group else number  # type: ignore[attr-defined]
    paper = paper_value(cell[1], cell[0], standing.method, metric)  # type: ignore[attr-defined]
    bounds = f"[{standing.low:.3f}, {standing.high:.3f}]"  # type: ignore[attr-defined]
    return f"{shown} {bounds}" + ("" if paper is None else f" (paper {paper:.3f})")


def _passes(e: Evidence, cell: Cell, method: str) -> str:
    count = e.passes.get(cell, {}).get(method)
    return "" if count is None else f"{count:.1f}"


def claim_table(e: Evidence) -> str:
    rows = [[str(c.number), c.title, c.source, c.judge(e).sentence] for c in CLAIMS]
    return table(["", "claim", "source", "verdict"], rows)


def statement_list(e: Evidence) -> str:
    out = []
    for claim in CLAIMS:
        out += [f"### {claim.number}. {claim.title}", ""]
        out += [_line(finding) for finding in claim.judge(e).findings]
        out.append("")
    return "\n".join(out)


def _line(finding: Finding) -> str:
    bounds = finding.interval
    numbers = "" if bounds is None else f" {bounds.value:.3f} [{bounds.low:.3f}, {bounds.high:.3f}];"
    return f"- {finding.statement.text}:{numbers} {finding.outcome} (allowed: {finding.statement.criterion})"
