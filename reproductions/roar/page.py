"""Write the results page of ROAR: results.md and its figures, from the records of its plans.

    python -m reproductions.roar.page [--store ~/.cache/assay-roar/store] [--output reproductions/roar]

Unpacks records.jsonl.xz from the output folder into the store, adds records that are new in the store to it, and writes
the page. Figures and verdicts depend on these records only; missing runs are marked. Needs the data and models that the
plans name, because record keys contain their fingerprints.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np

from assay.evaluation.roar.curves import curves as scores_of
from assay.evaluation.roar.verdict import ENOUGH, Faithfulness
from assay.experiments.archive import pack_records, unpack_records
from assay.experiments.store import Store
from assay.statistics.bootstrap import Interval, interval

from .claims import CLAIMS, MISSING
from .dataset_table import dataset_table
from .evidence import IG, LSTM, MEASURES, Areas, Evidence, counted, doubt
from .figures import ORDER, draw
from .plans import HERE, PLANS, load_plan
from .published import AREAS, MINUTES, REFERENCE, UNMASKED, Number
from .records import SCORES, TASKS, read_evidence
from .texts import ALL_MASKED, INTRODUCTION, LEAKS, MASF, NOTE, PREDICTED, RULES, VECTORS
from .word_vectors import word_vector_table

STORE = Path("~/.cache/assay-roar/store")
RECORDS = "records.jsonl.xz"
INCOMPLETE = "incomplete"  # some of the runs that a claim needs are missing
PUBLISHED = ("recursive", "weighted")  # studies whose areas are in the paper
FULL_STUDIES = ("recursive", "roar", "predicted", "words")  # with all measures of a model
FORMS = {"recursive": "Recursive ROAR", "roar": "ROAR", "predicted": "Recursive ROAR for the predicted label"}


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
                paper = AREAS.get(place, {}).get(IG if m == "weighted IG" else m)
                other = [published(paper), _overlap(e.interval(f), paper)] if in_paper else [_area(recursive.get(m))]
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
    return table((*heads, *(("paper", "overlap") if in_paper else ("Recursive ROAR, here",))), rows)


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


def seed_note(e: Evidence) -> str:
    """Where there are fewer seeds than in the paper, and what that means for the claims."""
    seeds = {place: min(len(f.seeds) for f in by_measure.values()) for place, by_measure in e.recursive.items()}
    fewer = [f"{' '.join(place)} {n}" for place, n in seeds.items() if n < ENOUGH]
    note = f"Fewer than the paper's five seeds: {', '.join(fewer)}. " if fewer else ""
    if not np.isfinite(e.noise.area):
        return f"{note}\n"
    places = ", ".join(f"{' '.join(place)} {study}" for place, study in e.pooled)
    area, gap = _deviations(e)
    return (
        f"{note}Between trainings the standard deviation of an area is {area}, and that of a difference of two areas\n"
        f"of the same trainings {gap}: means over all measures with three or more seeds and no leak ({places}).\n"
        "The intervals 'for new trainings', which claims and 'overlap' use, contain this variance, or a measure's own\n"
        "if it is larger; the other columns only reflect their own few trainings. With different rounding (another\n"
        "processor, other batches of explanations) the same seed gives another training, because rounding decides\n"
        f"which words are masked at every step.\n\n{leak_sensitivity(e)}"
    )


def _deviations(e: Evidence) -> list[str]:
    return [f"{100 * np.sqrt(variance):.1f}" for variance in (e.noise.area, e.noise.gap)]


def leak_sensitivity(e: Evidence) -> str:
    """Which verdicts change if leaking measures count for the variance between trainings."""
    other = replace(e, leaks_are_noise=True)
    if other.noise == e.noise:
        return ""
    area, gap = _deviations(other)
    verdicts = {number: (judge(e)[0], judge(other)[0]) for number, (_, judge) in CLAIMS.items()}
    changed = [
        f"{number} {after} instead of {before}" for number, (before, after) in verdicts.items() if before != after
    ]
    effect = f"and these verdicts would change: {'; '.join(changed)}" if changed else "and no verdict would change"
    return (
        "Seeds reach a leak at different steps or not at all; this is not counted as variance between trainings. If\n"
        f"leaking measures were counted, the two standard deviations would be {area} and {gap}, {effect}.\n"
    )


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


def _overlap(ours: Interval, paper: Number | None) -> str:
    """Whether the two intervals overlap."""
    if paper is None or not np.isfinite(ours.low):
        return "–"
    return "yes" if 100 * ours.low <= paper[0] + paper[1] and 100 * ours.high >= paper[0] - paper[2] else "no"


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


def measurable_section(e: Evidence) -> Iterator[str]:
    """A measurable model beside Recursive ROAR on SST: areas, order, in-distribution check, cost."""
    measurable, recursive = (e.areas.get((("SST", LSTM), study), {}) for study in ("measurable", "recursive"))
    if not measurable:
        yield "Not run yet.\n"
        return
    part = e.curves[("SST", LSTM), "measurable"]
    rows = []
    for m, f in measurable.items():
        n = str(len(f.seeds))
        cell = percent(recursive[m].value, recursive[m].both.low, recursive[m].both.high) if m in recursive else "–"
        shares = [f"{100 * part.outside[m][i]:.0f}" for i in (0, len(part.ratios) // 2, -1)]
        rows.append([m, percent(f.value, f.both.low, f.both.high), n, cell, " / ".join(shares)])
    yield table(
        ("measure", "measurable model", "seeds", "Recursive ROAR", "unknown inputs % at 0 / 50 / 100 % (MaSF)"), rows
    )
    both = [m for m in measurable if m in recursive]
    if len(both) > 1:
        orders = [" > ".join(sorted(both, key=lambda m: -areas[m].value)) for areas in (measurable, recursive)]
        yield f"Order: {orders[0]} with the measurable model; {orders[1]} with Recursive ROAR.\n"
        yield _agreement(e, measurable, recursive, both)
    yield MASF
    other = e.curves.get((("SST", LSTM), "recursive"))
    if other is not None:
        rankings = {m: 1 if m == "random" else other.steps for m in other.seconds}
        recursive_seconds = [
            rankings[m] * s.get("explain", 0) + other.steps * s.get("train", 0) for m, s in other.seconds.items()
        ]
        recursive_cost = sum(recursive_seconds) / 60
        seconds = [s for m, s in part.seconds.items() if m != "occlusion"]
        cost = (sum(s.get("explain", 0) for s in seconds) + sum(s.get("train", 0) for s in seconds)) / 60
        yield f"Cost per seed: {cost:.0f} min (without occlusion), Recursive ROAR {recursive_cost:.0f} min.\n"


def _agreement(e: Evidence, measurable: Areas, recursive: Areas, measures: Sequence[str]) -> str:
    """On how many pairs of measures that both approaches decide they agree."""
    alone = Evidence({}, {(("SST", LSTM), "recursive"): measurable})  # training with masks has its own variance
    orders = {
        (a, b): [alone.ordered(measurable[a], measurable[b]), e.ordered(recursive[a], recursive[b])]
        for a, b in combinations(measures, 2)
    }
    decided = {pair: both for pair, both in orders.items() if None not in both}
    reversed_pairs = [f"{a} and {b}" for (a, b), (first, second) in decided.items() if first != second]
    counts = [sum(both[i] is not None for both in orders.values()) for i in (0, 1)]
    return (
        f"Of {len(orders)} pairs of measures, {counts[0]} differ significantly with the measurable model and\n"
        f"{counts[1]} with Recursive ROAR; {len(decided)} with both, "
        f"{len(decided) - len(reversed_pairs)} of them in the same order"
        + (f". The order of {', '.join(reversed_pairs)} is reversed.\n" if reversed_pairs else ".\n")
    )


# --- the page --------------------------------------------------------------------------------------------------------


def progress(e: Evidence) -> str:
    """What has been run: data, model, study and seeds."""
    seeds = {key: [len(part.seeds[m]) for m in part.methods] for key, part in e.curves.items()}
    partial = {key: n for key, n in seeds.items() if key[1] in FULL_STUDIES and len(n) < len(MEASURES[key[0][1]])}
    notes = {key: f", {len(n)} of {len(MEASURES[key[0][1]])} measures" for key, n in partial.items()}
    runs = [f"{' '.join(key[0])} {key[1]} ({_from_to(n)}{notes.get(key, '')})" for key, n in seeds.items()]
    return f"Run so far: {'; '.join(runs) or 'nothing'}. Claims that need more are not judged.\n"


def _from_to(seeds: Sequence[int]) -> str:
    least = f"{min(seeds)} to " if min(seeds) < max(seeds) else ""
    return f"{least}{counted(max(seeds))}"


def page(e: Evidence, figures: Mapping[str, str], vectors: Sequence[str] = (), sizes: str = "") -> str:
    parts = [
        INTRODUCTION,
        progress(e),
        "## Claims\n",
        RULES,
        claim_table(e),
        "## Without masks (Tables 1 and 3)\n",
        unmasked_table(e),
    ]
    parts += [sizes, ""] if sizes else []
    parts += [VECTORS, *vectors, ""] if vectors else []
    parts += [
        "## Areas of Recursive ROAR (Table 2)\n",
        area_table(e),
        NOTE + fifths_note(e),
        seed_note(e),
        "## Areas of ROAR\n",
        area_table(e, "roar"),
    ]
    parts += ["## Masks that reveal the label\n", LEAKS, leak_notes(e), PREDICTED, area_table(e, "predicted")]
    parts += ["## Number of words instead of shares (Figure 7)\n", area_table(e, "words")]
    parts += ["## The published, weighted variant of IG\n", area_table(e, "weighted")]
    parts += ["## Faithfulness without retraining\n", *measurable_section(e)]
    parts += ["## Walltime (Table 7)\n", walltime_table(e)]
    parts += [
        "## Figures\n",
        *(f"### {_figure(title)}\n\n![{title}](figures/{name}.png)\n" for name, title in figures.items()),
    ]
    return "\n".join(parts)


def _figure(title: str) -> str:
    """With "Figure" before the number of a figure of the paper."""
    return f"Figure {title}" if title[0].isdigit() else title


def claim_table(e: Evidence) -> str:
    rows = []
    for number, (title, judge) in CLAIMS.items():
        verdict, evidence = judge(e)
        criterion = " ".join((judge.__doc__ or "").split())
        shown = INCOMPLETE if verdict == MISSING and evidence else verdict
        rows.append([number, f"{title}. *{criterion}*", f"**{shown}**", evidence])
    return table(("", "claim and criterion", "verdict", "evidence"), rows)


def write(store_folder: Path, output: Path) -> Path:
    """Write results.md, its figures and the packed records into the output folder."""
    store, figures, target = Store(store_folder.expanduser()), output / "figures", output / "results.md"
    figures.mkdir(parents=True, exist_ok=True)
    records = output / RECORDS
    if records.exists():
        unpack_records(records, store)
    if not pack_records([load_plan(path, store) for path in PLANS], store, records)[0]:
        raise SystemExit(
            f"{records} has no record of these plans. Record keys contain fingerprints of the data and models that "
            "the plans name: use the same files (reproductions/README.md), or run the plans first."
        )
    e = read_evidence(store)
    sizes = dataset_table(store, {task.place: (task.plan, task.grid, task.data) for task in TASKS})
    titles = draw(e, figures)
    for old in figures.glob("*.png"):
        if old.stem not in titles:
            old.unlink()
    target.write_text(page(e, titles, word_vector_table(store), sizes).rstrip() + "\n", encoding="utf-8")
    return target


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, default=STORE, help="store folder of `assay run`")
    parser.add_argument("--output", type=Path, default=HERE, help="folder of results.md and records.jsonl.xz")
    options = parser.parse_args()
    print(f"wrote {write(options.store, options.output)}")


if __name__ == "__main__":
    main()
