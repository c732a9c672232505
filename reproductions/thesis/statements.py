"""statements.md: every statement behind the verdicts, the criteria and their history."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.statistics.bootstrap import Interval
from assay.statistics.claims import Finding, Outcome, Verdict

from .claims import Judged
from .claims.claim import FIRST, LATER, PROBABILITY
from .findings import Verdicts
from .history import CHANGES, EARLIER
from .tables import short, table
from .texts import HISTORY_NOTE, RULES

MARKS = {
    Outcome.HOLDS: "✓",
    Outcome.CONTRADICTED: "✗",
    Outcome.UNDECIDED: "?",
    Outcome.NOT_TESTABLE: "–",
    Outcome.NOT_RUN: "…",
}

DISAGREEING = (Outcome.CONTRADICTED, Outcome.UNDECIDED)


def statements_page(verdicts: Verdicts) -> str:
    parts = [RULES, "## History of the criteria\n", HISTORY_NOTE, "", _changes(), _versions(verdicts), "## Claims\n"]
    return "\n".join([*parts, *(claim_section(by_reading.values()) for by_reading in verdicts.values())])


def _changes() -> str:
    return table(("time", "commit", "claims", "change", "known then"), CHANGES)


def _versions(verdicts: Verdicts) -> str:
    """The verdict on every claim before and now, and by both versions where there are two."""
    rows = []
    for number, by_reading in verdicts.items():
        now = by_reading[PROBABILITY]
        versions = {
            by_reading[PROBABILITY].claim.version: now,
            **{v: by_reading[v] for v in (FIRST, LATER) if v in by_reading},
        }
        cells = [short(versions[v]) if v in versions else "" for v in (FIRST, LATER)]
        judged = [versions[v].judgement.verdict for v in (FIRST, LATER) if v in versions]
        flips = len(judged) == 2 and judged[0] != judged[1] and Verdict.INCOMPLETE not in judged
        rows.append([str(number), EARLIER[number], short(now), *cells, "yes" if flips else ""])
    heads = ("claim", "earlier page", "now", "first criterion", "later criterion", "flips")
    return "Before and now, by the probability; the version that counts is the one that equals *now*.\n\n" + table(
        heads, rows
    )


def claim_section(readings: Sequence[Judged] | Iterator[Judged]) -> str:
    """Criterion, verdict and statements of a claim in all its readings."""
    judged = list(readings)
    claim = judged[0].claim
    out = [f'<a id="claim-{claim.number}"></a>', f"### {claim.number}. {claim.title}", ""]
    out += [f"Thesis: {claim.thesis}. Here: {claim.stand_ins}.", "", f"Criterion: {claim.criterion}", ""]
    for item in judged:
        reading = (
            item.reading if item.reading != PROBABILITY or not claim.version else f"{PROBABILITY}, {claim.version}"
        )
        out += [f"**{reading}: {item.judgement.sentence}.**", ""]
        if item.missing:
            out += [f"Provisional; trainings so far: {'; '.join(item.missing)}.", ""]
        statements = _statements if item.reading == PROBABILITY else _folded_disagreements
        out += [*statements(item.judgement.findings), ""]
    return "\n".join(out)


def _statements(findings: Sequence[Finding]) -> Iterator[str]:
    """Contradicted and undecided statements as a list, the others folded."""
    yield from map(_line, _disagreeing(findings))
    if others := [finding for finding in findings if finding.outcome not in DISAGREEING]:
        yield from ("", *_folded(f"{len(others)} other statements", others))


def _folded_disagreements(findings: Sequence[Finding]) -> Iterator[str]:
    """Of other readings only what does not hold."""
    if disagreeing := _disagreeing(findings):
        yield from _folded(f"{len(disagreeing)} contradicted or undecided", disagreeing)


def _disagreeing(findings: Sequence[Finding]) -> list[Finding]:
    return [finding for outcome in DISAGREEING for finding in findings if finding.outcome is outcome]


def _folded(title: str, findings: Sequence[Finding]) -> Iterator[str]:
    yield from (f"<details><summary>{title}</summary>", "", *map(_line, findings), "", "</details>")


def _line(finding: Finding) -> str:
    statement = finding.statement
    numbers = f" {show(finding.interval)}," if finding.interval is not None else ""
    reason = f" ({statement.reason})" if statement.reason else ""
    runs = [f"{run:.2f}" for run in getattr(statement.quantity, "runs", ())]
    trainings = f"; trainings {', '.join(runs)}" if runs and finding.outcome is Outcome.UNDECIDED else ""
    return f"- {MARKS[finding.outcome]} {statement.text}:{numbers} must be {statement.criterion}{trainings}{reason}"


def show(i: Interval) -> str:
    return f"{i.value:.2f} [{i.low:.2f}, {i.high:.2f}]"
