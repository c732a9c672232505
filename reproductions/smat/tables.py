"""The tables of the results page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from assay.evaluation.simulability.verdict import FEWEST
from assay.statistics.claims import ERROR, Finding, Judgement, Outcome, Verdict
from assay.statistics.quantities import Quantity

from .claims import CLAIMS
from .compared import COMPARED
from .evidence import NONE, Evidence, Gain
from .published import ALL, LAST, OWN, SMAT, columns, points, published
from .teaching import taught

ORDER = (NONE, "uniform", "gradient", "gradient_x_input", "integrated_gradients", ALL, LAST, SMAT, OWN)
NOT_RUN = "Not run yet.\n"
MOST = 100  # times as many students: more is no advice


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"


def student_table(e: Evidence, number: int, data: str) -> str:
    """Median [quartiles] as in the paper, then the mean gains over none and over the shuffled control."""
    sizes = e.sizes(data)
    if not sizes:
        return NOT_RUN
    extra = ("over none", "over shuffled", "verdict", "detectable")
    heads = ["explanation", *(part for size in sizes for part in (f"{size:,}", *extra))]
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
        return [""] * 5
    found, verdicts = judged[method], taught(e.rooms[data, "students"][size])
    low, high = found.quartiles
    shown = f"{100 * found.median:.1f} [{100 * low:.1f}:{100 * high:.1f}]"
    gains = [found.gains.get(control) for control in (NONE, f"shuffled {method}")]
    words = ["" if gain is None else points(gain.interval) for gain in gains]
    verdict = verdicts.get(method)
    reach = f"{100 * verdict.detectable:.1f}" if verdict and len(found.students) >= FEWEST else ""
    last = ["", ""] if verdict is None else [verdict.verdict, reach]
    return [f"<u>{shown}</u>" if found.underlined else shown, *words, *last]


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
    if not set(methods) & set(ORDER):
        return NOT_RUN
    rows = []
    for method in methods:
        cells = [_auc(f.get(method)) for f in found]
        known = [published().get((number, data, method.removesuffix(" (oracle)"), part)) for part in parts]
        rows.append([method, *cells, *("" if k is None else str(k) for k in known)])
    titles = [{"text": "source", "text_pair": "translation"}.get(part, "AUC") for part in parts]
    return table(["method", *titles, *(f"paper{', ' + t if t != 'AUC' else ''}" for t in titles)], rows)


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
    note = "Agreement in percent, medians. Students without explanations are the same ones in all columns.\n\n"
    return note + table([f"{size:,} texts", *studies, *(f"paper, {name}" for name in studies)], rows)


def _median(room: object, method: str) -> str:
    judged = getattr(room, "judged", {})
    return f"{100 * judged[method].median:.1f}" if method in judged else ""


def claim_table(e: Evidence) -> str:
    rows = [
        [str(c.number), f"{c.title} ({c.source})", *COMPARED[c.number](e), _bold(_more(c.judge(e)))] for c in CLAIMS
    ]
    return table(["", "claim", "paper", "here", "verdict"], rows)


def _more(found: Judgement) -> str:
    """What more of would decide: of a claim about students, texts alone would not."""
    if found.verdict is Verdict.UNDECIDED and MOST < found.needed < math.inf:
        return f"{found.verdict} ({found.share}); the open differences are too close to 0 to say what would decide them"
    students = any(isinstance(f.statement.quantity, Gain) for f in found.findings)
    examples = "students and test texts" if students else "reviews"
    sentence = found.sentence.replace("as many examples", f"as many {examples}")
    return sentence.replace("more examples", f"more {examples}")


def _bold(sentence: str) -> str:
    """The verdict, which the sentence starts with, in bold."""
    verdict = next(v for v in sorted(map(str, Verdict), key=len, reverse=True) if sentence.startswith(v))
    return f"**{verdict}**{sentence.removeprefix(verdict)}"


def not_run(e: Evidence, parts: Mapping[tuple[str, str], str]) -> str:
    """The parts of the plans that are not finished, with what each would add."""
    lines = []
    for part, adds in parts.items():
        done, jobs = e.done.get(part, (0, 0))
        if not jobs or done < jobs:
            lines.append(f"- {adds}: {f'{done:,} of {jobs:,} jobs done' if done else 'not run'}.")
    if (r := e.teachers.get("mlqe", {}).get("pearson", 1.0)) < 0.4:
        lines.append(f"- Tables 5 and 6 were given up as planned: the teacher's Pearson's r is {r:.2f}, below .4.")
    return "\n".join(lines) + "\n" if lines else "Everything in the plans was run.\n"


def statement_list(e: Evidence) -> str:
    out = []
    for claim in CLAIMS:
        found = claim.judge(e)
        confidence = 1 - ERROR / max(1, sum(f.interval is not None for f in found.findings))
        out += [f"### {claim.number}. {claim.title}", ""]
        out += [_line(finding, confidence) for finding in found.findings]
        out.append("")
    return "\n".join(out)


def _line(finding: Finding, confidence: float) -> str:
    bounds, reason, quantity = finding.interval, finding.statement.reason, finding.statement.quantity
    numbers = "" if bounds is None else f" {bounds.value:.3f} [{bounds.low:.3f}, {bounds.high:.3f}];"
    why = f": {reason}" if reason else f" (allowed: {finding.statement.criterion})"
    if isinstance(quantity, Gain) and finding.outcome is Outcome.UNDECIDED:
        high = finding.statement.criterion.high  # what is allowed can only be ruled out beyond it
        reach = quantity.detectable(confidence) + (0.0 if math.isinf(high) else high)
        why += f"; a difference of {reach:.3f} would have been found about four times in five"
    return f"- {finding.statement.text}:{numbers} {finding.outcome}{why}"
