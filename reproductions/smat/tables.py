"""The tables of the results page."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.statistics.claims import Finding
from assay.statistics.quantities import Quantity

from .claims import CLAIMS
from .evidence import NONE, Evidence
from .published import ALL, LAST, OWN, SMAT, columns, published

ORDER = (NONE, "uniform", "gradient", "gradient_x_input", "integrated_gradients", ALL, LAST, SMAT, OWN)
NOT_RUN = "Not run yet.\n"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"


def student_table(e: Evidence, number: int, data: str) -> str:
    """Median [quartiles] as in the paper, then the mean gains over none and over the shuffled control."""
    sizes = e.sizes(data)
    if not sizes:
        return NOT_RUN
    heads = ["explanation", *(part for size in sizes for part in (f"{size:,}", "over none", "over shuffled"))]
    paper = columns(number, data if data != "sst" else "imdb")
    heads += [f"paper, {int(column):,}" for column in paper]
    methods = {m for size in sizes for m in e.rooms[data, "students"][size].outputs}
    shown = [m for m in ORDER if m in methods] + sorted(m for m in methods if m.startswith("shuffled"))
    rows = [
        [m, *(c for size in sizes for c in _students(e, data, size, m)), *_paper(number, data, m, paper)] for m in shown
    ]
    return table(heads, rows)


def _students(e: Evidence, data: str, size: int, method: str) -> list[str]:
    judged = e.rooms[data, "students"][size].judged
    if method not in judged:
        return ["", "", ""]
    found = judged[method]
    low, high = found.quartiles
    shown = f"{100 * found.median:.1f} [{100 * low:.1f}:{100 * high:.1f}]"
    gains = [found.gains.get(control) for control in (NONE, f"shuffled {method}")]
    words = [
        ""
        if g is None
        else f"{100 * g.interval.value:+.1f} [{100 * g.interval.low:+.1f}, {100 * g.interval.high:+.1f}]"
        for g in gains
    ]
    return [f"<u>{shown}</u>" if found.underlined else shown, *words]


def _paper(number: int, data: str, method: str, paper: Sequence[str]) -> list[str]:
    name = SMAT if method == OWN else "" if method == SMAT else method  # the paper's students are those of the fit
    found = [published().get((number, "imdb" if data == "sst" else data, name, column)) for column in paper]
    return ["" if value is None else str(value) for value in found]


def plausibility_table(
    e: Evidence, number: int, data: str, metrics: Sequence[str], parts: Sequence[str] = ("",)
) -> str:
    """AUC per method with its interval; the last rows know the answer."""
    found = [e.plausible.get((data, metric), {}) for metric in metrics]
    methods = [m for m in (*ORDER, "random", "best layer (oracle)", "best head (oracle)") if any(m in f for f in found)]
    if not methods:
        return NOT_RUN
    rows = []
    for method in methods:
        cells = [_auc(f.get(method)) for f in found]
        known = [published().get((number, data, method.removesuffix(" (oracle)"), part)) for part in parts]
        rows.append([method, *cells, *("" if k is None else str(k) for k in known)])
    titles = [part or "AUC" for part in parts]
    return table(["method", *titles, *(f"paper{', ' + part if part else ''}" for part in parts)], rows)


def _auc(values: object) -> str:
    if not values:
        return ""
    numbers = np.array(list(values.values()))  # type: ignore[attr-defined]
    if len(numbers) < 2:
        return f"{numbers.mean():.3f}"
    bounds = Quantity(numbers).interval(0.95)
    return f"{bounds.value:.3f} [{bounds.low:.3f}, {bounds.high:.3f}]"


def normaliser_table(e: Evidence) -> str:
    """Table 7: medians by the normaliser of the head weights."""
    studies = {"sparsemax": "students", "softmax": "softmax", "entmax15": "entmax15", "none": "no_normaliser"}
    size = min((s for study in studies.values() for s in e.sizes("sst", study)), default=0)
    rooms = {name: e.room("sst", study, size) for name, study in studies.items()}
    if all(room is None for room in rooms.values()):
        return NOT_RUN
    rows = []
    for method in (NONE, ALL, LAST, SMAT, OWN):
        ours = [_median(room, method) for room in rooms.values()]
        rows.append([method, *ours, *_paper(7, "mlqe", method, list(studies))])
    return table([f"{size:,} texts", *studies, *(f"paper, {name}" for name in studies)], rows)


def _median(room: object, method: str) -> str:
    judged = getattr(room, "judged", {})
    return f"{100 * judged[method].median:.1f}" if method in judged else ""


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
    bounds, reason = finding.interval, finding.statement.reason
    numbers = "" if bounds is None else f" {bounds.value:.3f} [{bounds.low:.3f}, {bounds.high:.3f}];"
    why = f": {reason}" if reason else f" (allowed: {finding.statement.criterion})"
    return f"- {finding.statement.text}:{numbers} {finding.outcome}{why}"
