"""The tables of the result pages."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.evaluation.roar.curves import curves as scores_of
from assay.evaluation.roar.verdict import Faithfulness
from assay.statistics.bootstrap import Interval, interval

from .evidence import IG, LSTM, MEASURES, Evidence, Place, counted, doubt
from .figures import ORDER
from .published import AREAS, MINUTES, REFERENCE, UNMASKED, Number
from .records import SCORES
from .texts import ALL_MASKED

PUBLISHED = ("recursive", "weighted")  # studies whose areas are in the paper
FORMS = {"recursive": "Recursive ROAR", "roar": "ROAR", "predicted": "Recursive ROAR for the predicted label"}
WIDE = 0.2  # an interval that is wider decides nothing about agreement
TENTHS = 11  # points of a curve with steps of 10 %


def percent(value: float, low: float, high: float) -> str:
    if np.isnan(low):
        return f"{100 * value:.1f}"
    return f"{100 * value:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def published(number: Number | None) -> str:
    return "–" if number is None else f"{number[0]:g} [{number[0] - number[2]:.1f}, {number[0] + number[1]:.1f}]"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"


def unmasked_table(e: Evidence) -> str:
    """Tables 1 and 3."""
    rows = []
    for (place, study), part in e.curves.items():
        if study == "recursive":
            seeds = scores_of(part.predicted["random"], part.gold, SCORES[place])[0][:, 0]
            ours = (
                percent(float(seeds.mean()), *((i := interval(seeds)).low, i.high))
                if len(seeds) > 1
                else f"{100 * seeds[0]:.1f}"
            )
            floor = scores_of(part.predicted["random"], part.gold, SCORES[place])[0][:, -1].mean()
            reference = str(REFERENCE.get(place[0], "–")) if place[1] == LSTM else "–"
            paper = published(UNMASKED.get(place))
            rows.append([*place, SCORES[place], ours, str(len(seeds)), paper, reference, f"{100 * floor:.1f}"])
    heads = ("data", "model", "score", "here, BCa over seeds", "seeds", "paper", "Jain & Wallace", "all masked, here")
    return table(heads, rows) + ALL_MASKED


def area_table(e: Evidence, study: str = "recursive") -> str:
    """Table 2. Studies that are not in the paper are shown beside our areas of Recursive ROAR."""
    rows, in_paper = [], study in PUBLISHED
    for (place, name), by_measure in e.areas.items():
        recursive = e.areas.get((place, "recursive"), {})
        for m in sorted(by_measure, key=lambda m: ORDER.index(m) if m in ORDER else len(ORDER)):
            f = by_measure[m]
            if name == study:
                intervals = [_area(f), *(_span(i) for i in (e.interval(f), f.bca, f.t))]
                paper = published_area(place, m)
                other = [published(paper), agreement(e.interval(f), paper)] if in_paper else [_area(recursive.get(m))]
                verdict = ", ".join(word for word in (f.verdict, doubt(f)) if word)
                rows.append([*place, m, *intervals, str(len(f.seeds)), verdict, *other])
    heads = (
        "data",
        "model",
        "measure",
        "area %, seeds and texts",
        "for new trainings",
        "BCa over seeds",
        "t over seeds",
        "seeds",
        "verdict",
    )
    if not rows:
        return "Not run yet.\n"
    return table((*heads, *(("paper", "agreement") if in_paper else ("Recursive ROAR, here",))), rows)


def published_area(place: Place, measure: str) -> Number | None:
    """The paper's IG is the weighted variant, so both of ours have the same number beside them."""
    return AREAS.get(place, {}).get(IG if measure == "weighted IG" else measure)


def compact_areas(e: Evidence) -> str:
    """Table 2: a row per data set and model, the paper's area below ours."""
    places = [place for place, study in e.areas if study == "recursive"]
    rows = [
        [f"{' '.join(place)}", *(_beside(e, place, m) for m in (*MEASURES[LSTM], "weighted IG"))] for place in places
    ]
    return table(("", *MEASURES[LSTM], "weighted IG"), rows) if rows else "Not run yet.\n"


def _beside(e: Evidence, place: Place, measure: str) -> str:
    study = "weighted" if measure == "weighted IG" else "recursive"
    f, paper = e.areas.get((place, study), {}).get(measure), published_area(place, measure)
    if f is None:
        return "–"
    coarse = "°" if len(e.curves[place, study].ratios) < TENTHS else ""
    agrees = agreement(e.interval(f), paper)
    ours = "undefined" if not np.isfinite(f.both.low) else f"**{100 * f.value:.1f}** {_span(e.interval(f))}{coarse}"
    notes = [word for word in (f"paper {paper[0]:g}" if paper else "", agrees, doubt(f), counted(len(f.seeds))) if word]
    return f"{ours}<br>{', '.join(notes)}"


def _area(f: Faithfulness | None) -> str:
    if f is None or not np.isfinite(f.both.low):
        return "–" if f is None else "undefined"
    return percent(f.value, f.both.low, f.both.high)


def leak_notes(e: Evidence) -> str:
    """The warnings about curves that rise or have a low point."""
    notes = [
        f"- {' '.join(place)}, {FORMS[study]}, {m}: {note}.\n"
        for (place, study), by_measure in e.areas.items()
        if study in FORMS
        for m, f in by_measure.items()
        for note in f.notes
        if note.startswith(("class leakage", "a low point"))
    ]
    return "".join(notes) or "No curve rises significantly.\n"


def fifths_note(e: Evidence) -> str:
    """How areas change from steps of 10 % to steps of 20 %."""
    both = {place: (areas, e.at_fifths.get(place, {})) for (place, s), areas in e.areas.items() if s == "recursive"}
    pairs = [
        f"{' '.join(place)} {m} {100 * fine[m].value:.1f} and {100 * coarse[m].value:.1f}"
        for place, (fine, coarse) in both.items()
        for m in fine
        if m in coarse and fine[m].value != coarse[m].value
    ]
    return f"Areas of the same curves with steps of 10 and of 20 %: {'; '.join(pairs)}.\n" if pairs else ""


def _span(i: Interval) -> str:
    return "–" if not np.isfinite(i.low) else f"[{100 * i.low:.1f}, {100 * i.high:.1f}]"


def agreement(ours: Interval, paper: Number | None) -> str:
    """Whether two intervals meet; nothing if ours is too wide to say so."""
    if paper is None or not np.isfinite(ours.low) or not np.isfinite(ours.high):
        return ""
    if 100 * ours.low > paper[0] + paper[1] or 100 * ours.high < paper[0] - paper[2]:
        return "differs"
    return "agrees" if ours.high - ours.low <= WIDE else ""


def walltime_table(e: Evidence) -> str:
    """Table 7."""
    rows = []
    for (place, study), part in e.curves.items():
        if study == "recursive":
            for m, seconds in part.seconds.items():
                paper = MINUTES.get(place, {}).get(m)
                ours = (seconds.get("train", 0) + seconds.get("explain", 0) * (m != "random")) / 60
                cells = [f"{seconds.get(name, 0):.0f}" for name in ("explain", "train")]
                rows.append([*place, m, *cells, f"{ours:.1f}", "–" if paper is None else str(paper)])
    heads = (
        "data",
        "model",
        "measure",
        "s explaining",
        "s training",
        "min per step, one core",
        "min per step, paper's GPU",
    )
    return table(heads, rows) + "\n" + ig_share(e)


def ig_share(e: Evidence) -> str:
    """IG's share of the time of a step; the paper says two thirds."""
    shares = []
    for model, measures in MEASURES.items():
        parts = [p.seconds for (place, study), p in e.curves.items() if (place[1], study) == (model, "recursive")]
        complete = [part for part in parts if {"random", *measures} <= set(part)]
        seconds = {m: sum(sum(part[m].values()) for part in complete) for m in ("random", *measures)}
        if complete:
            shares.append(f"{100 * seconds[IG] / sum(seconds.values()):.0f} % with the {model}")
    paper = "The paper says two thirds; its Table 7 has 66 % for RoBERTa and 37 % for the LSTM"
    return f"IG takes {' and '.join(shares)} of the time of a step of all measures here. {paper}.\n" if shares else ""
