"""The second page: every statement with its criterion and interval, the history of criteria, and the other tables."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from assay.evaluation.roar.verdict import ENOUGH
from assay.statistics.claims import Finding, Judgement, Outcome, Verdict

from .claims import CLAIMS, Claim
from .evidence import MEASURES, Evidence, Leaks, counted, percent
from .history import BEFORE, CHANGES, FIRST, HEADS, WHY, WORDS
from .measurable import measurable_section
from .tables import area_table, fifths_note, leak_notes, table, unmasked_table, walltime_table
from .texts import LEAKS, NOTE, PREDICTED, RULES, VECTORS

FULL_STUDIES = ("recursive", "roar", "predicted", "words")  # with all measures of a model
MANY = 50  # times as many runs: out of reach


def statements(e: Evidence, vectors: Sequence[str] = (), sizes: str = "") -> str:
    """The whole page."""
    parts = [
        "# ROAR: statements, criteria and their history\n",
        "What [results.md](results.md) rests on. `python -m reproductions.roar.page` writes both pages.\n",
        "## Rules\n",
        RULES,
        seed_note(e),
        "## Statements\n",
        *(claim_section(number, claim, e) for number, claim in CLAIMS.items()),
        "## History of the criteria\n",
        FIRST,
        table(HEADS, CHANGES),
        WORDS,
        change_table(e),
        "## What was run\n",
        progress(e),
        "## Without masks (Tables 1 and 3)\n",
        unmasked_table(e),
    ]
    parts += [sizes, ""] if sizes else []
    parts += [VECTORS, *vectors, ""] if vectors else []
    parts += ["## Areas of Recursive ROAR (Table 2)\n", area_table(e), NOTE + fifths_note(e)]
    parts += ["## Areas of ROAR\n", area_table(e, "roar")]
    parts += ["## Masks that reveal the label\n", LEAKS, leak_notes(e), PREDICTED, area_table(e, "predicted")]
    parts += ["## Number of words instead of shares (Figure 7)\n", area_table(e, "words")]
    parts += ["## The published, weighted variant of IG\n", area_table(e, "weighted")]
    parts += ["## Faithfulness without retraining\n", *measurable_section(e)]
    parts += ["## Walltime (Table 7)\n", walltime_table(e)]
    return "\n".join(parts)


# --- claims ----------------------------------------------------------------------------------------------------------


def claim_section(number: str, claim: Claim, e: Evidence) -> str:
    """A claim with its statements and its verdict under other readings."""
    judged, ways = claim.judged(e), claim.by_leaks(e)
    rows = [
        [f.statement.text, _bounds(f), *(str(ways[leaks].findings[i].outcome) for leaks in Leaks)]
        for i, f in enumerate(judged.findings)
    ]
    heads = ("statement", "value and interval, as measured", *(f"leaks {leaks}" for leaks in Leaks))
    verdicts = [["**verdict**", "", *(f"**{verdict_words(ways[leaks])}**" for leaks in Leaks)]]
    lines = [f"### {number}: {claim.title}\n", f"{claim.source}. First criterion: *{claim.criterion}*\n"]
    lines += [table(heads, [*rows, *verdicts])]
    remedy = what_would_decide(judged)
    lines += [f"{remedy[:1].upper()}{remedy[1:]}.\n"] if remedy else []
    later = claim.by_later_criteria(e)
    lines += [f"- Later criterion, {change}: {verdict_words(judgement)}.\n" for change, judgement in later.items()]
    return "\n".join(lines)


def verdict_words(judged: Judgement) -> str:
    """A verdict with the share of statements that hold."""
    return f"{judged.verdict} ({judged.counts[Outcome.HOLDS]} of {judged.tested})"


def what_would_decide(judged: Judgement) -> str:
    """For undecided claims; empty for others."""
    if judged.verdict is not Verdict.UNDECIDED:
        return ""
    if not math.isfinite(judged.needed) or judged.needed > MANY:
        return "more runs would hardly decide it: values lie close to the line, or leak"
    return f"about {math.ceil(judged.needed)} times as many trainings and texts would decide half of what is open"


def _bounds(finding: Finding) -> str:
    i = finding.interval
    if i is None:
        return finding.statement.reason or "–"
    if math.isnan(i.low):
        return f"{100 * i.value:.1f}"
    return percent(i).replace("-inf", "open").replace("inf", "open")


def change_table(e: Evidence) -> str:
    """The verdicts of the old page beside those of this one."""
    rows = [
        [number, BEFORE[number], verdict_words(claim.judged(e)), WHY[number] or "–"] for number, claim in CLAIMS.items()
    ]
    return table(("claim", "page until 18 November", "now", "why"), rows)


# --- runs ------------------------------------------------------------------------------------------------------------


def seed_note(e: Evidence) -> str:
    """Where there are fewer seeds than in the paper, and how much trainings vary."""
    seeds = {place: min(len(f.seeds) for f in by_measure.values()) for place, by_measure in e.recursive.items()}
    fewer = [f"{' '.join(place)} {n}" for place, n in seeds.items() if n < ENOUGH]
    note = f"Fewer than the paper's five seeds: {', '.join(fewer)}. " if fewer else ""
    if not np.isfinite(e.noise.area):
        return f"{note}\n"
    places = ", ".join(f"{' '.join(place)} {study}" for place, study in e.pooled)
    area, gap = _deviations(e)
    noisy = " and ".join(_deviations(e.counting(Leaks.NOISE)))
    return (
        f"{note}Between trainings the standard deviation of an area is {area} points, and that of a difference of two\n"
        f"areas of the same trainings {gap} ({places}); {noisy} if leaking areas count. With other rounding (another\n"
        "processor, other batches of explanations) the same seed gives another training: rounding decides which\n"
        "words are masked at every step.\n"
    )


def _deviations(e: Evidence) -> list[str]:
    return [f"{100 * np.sqrt(variance):.1f}" for variance in (e.noise.area, e.noise.gap)]


def progress(e: Evidence) -> str:
    """What has been run: data, model, study and seeds."""
    seeds = {key: [len(part.seeds[m]) for m in part.methods] for key, part in e.curves.items()}
    partial = {key: n for key, n in seeds.items() if key[1] in FULL_STUDIES and len(n) < len(MEASURES[key[0][1]])}
    notes = {key: f", {len(n)} of {len(MEASURES[key[0][1]])} measures" for key, n in partial.items()}
    runs = [f"{' '.join(key[0])} {key[1]} ({_from_to(n)}{notes.get(key, '')})" for key, n in seeds.items()]
    return f"{'; '.join(runs) or 'Nothing'}.\n"


def _from_to(seeds: Sequence[int]) -> str:
    least = f"{min(seeds)} to " if min(seeds) < max(seeds) else ""
    return f"{least}{counted(max(seeds))}"
