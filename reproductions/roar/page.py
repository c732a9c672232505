"""The results page of ROAR: docs/results/roar.md with its figures and tables, from the store of its plans.

    python papers/roar/page.py --store ~/.cache/assay-roar/store [--output docs/results]

Each figure and each verdict is a function of the stored records alone; what has not been run is said to be so. Records
are packed beside the page (roar/records.jsonl.xz), and what was packed on another machine is unpacked first.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))  # run as a file: its neighbours are its modules

from drawn import ORDER, draw
from files import PLANS, planned
from gathered import SCORES, TASKS, gather
from judged import CLAIMS, MISSING
from published import AREAS, MINUTES, REFERENCE, UNMASKED, Number
from sizes import described
from texts import ALL_MASKED, INTRODUCTION, MASF, NOTE, PREDICTED, RULES, TOLD, VECTORS
from vectors import lines as vector_lines
from weighed import IG, LSTM, MEASURES, Areas, Evidence, counted, doubt

from assay.evaluation.roar.curves import curves as scores_of
from assay.evaluation.roar.verdict import ENOUGH, Faithfulness
from assay.experiments.archive import pack, unpack
from assay.experiments.store import Store
from assay.statistics.bootstrap import Interval, interval

PACK = "records.jsonl.xz"
INCOMPLETE = "incomplete"  # some of what a claim needs was run
PUBLISHED = ("recursive", "weighted")  # studies whose areas the paper has
ASKED = ("recursive", "roar", "predicted", "words")  # studies of all measures of a model
FORMS = {"recursive": "Recursive ROAR", "roar": "ROAR", "predicted": "Recursive ROAR of the predicted label"}


def percent(value: float, low: float, high: float) -> str:
    if np.isnan(low):
        return f"{100 * value:.1f}"
    return f"{100 * value:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def published(number: Number | None) -> str:
    return "–" if number is None else f"{number[0]:g} [{number[0] - number[2]:.1f}, {number[0] + number[1]:.1f}]"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"


def unmasked(e: Evidence) -> str:
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
            rows.append(
                [place[0], place[1], SCORES[place], ours, str(len(seeds)), paper, reference, f"{100 * floor:.1f}"]
            )
    heads = ("data", "model", "score", "here, seeds' BCa", "seeds", "paper", "Jain & Wallace", "all masked, here")
    return table(heads, rows) + ALL_MASKED


def areas(e: Evidence, study: str = "recursive") -> str:
    """Table 2; beside areas that the paper has none of stand our own of Recursive ROAR."""
    rows, theirs = [], study in PUBLISHED
    for (place, name), found in e.areas.items():
        again = e.areas.get((place, "recursive"), {})
        for m in sorted(found, key=lambda m: ORDER.index(m) if m in ORDER else len(ORDER)):
            f = found[m]
            if name == study:
                spans = [_area(f), *(_span(i) for i in (e.interval(f), f.bca, f.t))]
                paper = AREAS.get(place, {}).get(IG if m == "weighted IG" else m)
                other = [published(paper), _within(e.interval(f), paper)] if theirs else [_area(again.get(m))]
                verdict = ", ".join(word for word in (f.verdict, doubt(f)) if word)
                rows.append([*place, m, *spans, str(len(f.seeds)), verdict, *other])
    heads = (
        "data",
        "model",
        "measure",
        "area %, seeds and texts",
        "for other trainings",
        "BCa over seeds",
        "t over seeds",
        "seeds",
        "verdict",
    )
    if not rows:
        return "Not run yet.\n"
    return table((*heads, *(("paper", "meets") if theirs else ("Recursive ROAR, here",))), rows)


def _area(f: Faithfulness | None) -> str:
    if f is None or not np.isfinite(f.both.low):
        return "–" if f is None else "none is sure"
    return percent(f.value, f.both.low, f.both.high)


def warned(e: Evidence) -> str:
    """What curves that rise, or have a low point, are said to be."""
    notes = [
        f"- {' '.join(place)}, {FORMS[study]}, {m}: {note}.\n"
        for (place, study), found in e.areas.items()
        if study in FORMS
        for m, f in found.items()
        for note in f.notes
        if note.startswith(("class leakage", "a low point"))
    ]
    return "".join(notes) or "No curve rises significantly.\n"


def few_seeds(e: Evidence) -> str:
    """Who has fewer seeds than the paper, and what that means for the claims."""
    seeds = {place: min(len(f.seeds) for f in found.values()) for place, found in e.recursive.items()}
    fewer = [f"{' '.join(place)} {n}" for place, n in seeds.items() if n < ENOUGH]
    said = f"Fewer than the paper's five seeds: {', '.join(fewer)}. " if fewer else ""
    if not np.isfinite(e.noise.area):
        return f"{said}\n"
    places = ", ".join(f"{' '.join(place)} {study}" for place, study in e.pooled)
    sizes = _deviations(e)
    return (
        f"{said}Over trainings an area has a standard deviation of {sizes[0]} and a difference of two areas of the\n"
        f"same trainings one of {sizes[1]}: means over all that have three seeds or more and do not leak ({places}).\n"
        "The column 'for other trainings', which claims and 'meets' look at, has this as the part of trainings, or a\n"
        "measure's own spread if it is larger: the other columns know of no trainings but their own few. With other\n"
        "roundings (another processor, other batches of explanations) the same seed is another training: they decide,\n"
        f"step after step, which words are masked.\n\n{with_leaks(e)}"
    )


def _deviations(e: Evidence) -> list[str]:
    return [f"{100 * np.sqrt(variance):.1f}" for variance in (e.noise.area, e.noise.gap)]


def with_leaks(e: Evidence) -> str:
    """What the claims would be if a leak were noise of trainings; it is our choice that it is none."""
    other = replace(e, leaks_are_noise=True)
    if other.noise == e.noise:
        return ""
    sizes = _deviations(other)
    verdicts = {number: (judge(e)[0], judge(other)[0]) for number, (_, judge) in CLAIMS.items()}
    changed = [
        f"{number} {after} instead of {before}" for number, (before, after) in verdicts.items() if before != after
    ]
    said = (
        f"and these claims would be judged otherwise: {'; '.join(changed)}"
        if changed
        else "and no claim's verdict would change"
    )
    return (
        "Seeds run into a leak at different steps or not at all, which is no noise of trainings. Were measures that\n"
        f"leak counted too, the two deviations would be {sizes[0]} and {sizes[1]}, {said}.\n"
    )


def at_fifths(e: Evidence) -> str:
    """What steps of 20 % make of the areas at 10 %."""
    both = {place: (areas, e.at_fifths.get(place, {})) for (place, s), areas in e.areas.items() if s == "recursive"}
    said = [
        f"{' '.join(place)} {m} {100 * fine[m].value:.1f} and {100 * coarse[m].value:.1f}"
        for place, (fine, coarse) in both.items()
        for m in fine
        if m in coarse and fine[m].value != coarse[m].value
    ]
    return f"The same curves at 10 and at 20 %: {'; '.join(said)}.\n" if said else ""


def _span(i: Interval) -> str:
    return "–" if not np.isfinite(i.low) else f"[{100 * i.low:.1f}, {100 * i.high:.1f}]"


def _within(ours: Interval, paper: Number | None) -> str:
    """Whether the two intervals meet."""
    if paper is None or not np.isfinite(ours.low):
        return "–"
    return "yes" if 100 * ours.low <= paper[0] + paper[1] and 100 * ours.high >= paper[0] - paper[2] else "no"


def walltime(e: Evidence) -> str:
    """Table 7."""
    rows = []
    for (place, study), part in e.curves.items():
        if study == "recursive":
            for m, spent in part.seconds.items():
                paper = MINUTES.get(place, {}).get(m)
                ours = (spent.get("train", 0) + spent.get("explain", 0) * (m != "random")) / 60
                cells = [f"{spent.get(name, 0):.0f}" for name in ("explain", "train")]
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
    """How much of a step's time IG takes, which the paper puts at two thirds."""
    said = []
    for model, measures in MEASURES.items():
        parts = [p.seconds for (place, study), p in e.curves.items() if (place[1], study) == (model, "recursive")]
        whole = [part for part in parts if {"random", *measures} <= set(part)]
        spent = {m: sum(sum(part[m].values()) for part in whole) for m in ("random", *measures)}
        if whole:
            said.append(f"{100 * spent[IG] / sum(spent.values()):.0f} % with the {model}")
    theirs = "The paper says two thirds; its Table 7 has 66 % for RoBERTa and 37 % for the LSTM"
    return f"IG takes {' and '.join(said)} of the time of a step of all measures here. {theirs}.\n" if said else ""


def side_by_side(e: Evidence) -> Iterator[str]:
    """A measurable model beside Recursive ROAR on SST: areas, order, in-distribution check, cost."""
    one, many = (e.areas.get((("SST", LSTM), study), {}) for study in ("measurable", "recursive"))
    if not one:
        yield "Not run yet.\n"
        return
    part = e.curves[("SST", LSTM), "measurable"]
    rows = []
    for m, f in one.items():
        n = str(len(f.seeds))
        cell = percent(many[m].value, many[m].both.low, many[m].both.high) if m in many else "–"
        shares = [f"{100 * part.outside[m][i]:.0f}" for i in (0, len(part.ratios) // 2, -1)]
        rows.append([m, percent(f.value, f.both.low, f.both.high), n, cell, " / ".join(shares)])
    yield table(
        ("measure", "measurable model", "seeds", "Recursive ROAR", "unknown inputs % at 0 / 50 / 100 % (MaSF)"), rows
    )
    both = [m for m in one if m in many]
    if len(both) > 1:
        orders = [" > ".join(sorted(both, key=lambda m: -found[m].value)) for found in (one, many)]
        yield f"Order: {orders[0]} from one model; {orders[1]} from Recursive ROAR.\n"
        yield _agreement(e, one, many, both)
    yield MASF
    other = e.curves.get((("SST", LSTM), "recursive"))
    if other is not None:
        ranks = {m: 1 if m == "random" else other.steps for m in other.seconds}
        spent_again = [
            ranks[m] * s.get("explain", 0) + other.steps * s.get("train", 0) for m, s in other.seconds.items()
        ]
        again = sum(spent_again) / 60
        spent = [s for m, s in part.seconds.items() if m != "occlusion"]
        once = (sum(s.get("explain", 0) for s in spent) + sum(s.get("train", 0) for s in spent)) / 60
        yield f"Cost of one seed: {once:.0f} min (without occlusion) against {again:.0f} min.\n"


def _agreement(e: Evidence, one: Areas, many: Areas, both: Sequence[str]) -> str:
    """Of the pairs of measures that each can tell apart: how many it orders as the other does."""
    alone = Evidence({}, {(("SST", LSTM), "recursive"): one})  # trainings with masks vary in their own way
    told = {(a, b): [alone.ordered(one[a], one[b]), e.ordered(many[a], many[b])] for a, b in combinations(both, 2)}
    sure = {pair: orders for pair, orders in told.items() if None not in orders}
    other = [f"{a} and {b}" for (a, b), (first, second) in sure.items() if first != second]
    known = [sum(orders[i] is not None for orders in told.values()) for i in (0, 1)]
    return (
        f"Of {len(told)} pairs of measures one model tells {known[0]} apart and Recursive ROAR {known[1]} (by the\n"
        f"interval of the difference); both {len(sure)}, of which they order {len(sure) - len(other)} alike"
        + (f" and turn round {', '.join(other)}.\n" if other else ".\n")
    )


# --- the page --------------------------------------------------------------------------------------------------------


def progress(e: Evidence) -> str:
    """What has been run: data, model, study and seeds."""
    seeds = {key: [len(part.seeds[m]) for m in part.methods] for key, part in e.curves.items()}
    part_of = {key: n for key, n in seeds.items() if key[1] in ASKED and len(n) < len(MEASURES[key[0][1]])}
    few = {key: f", {len(n)} of {len(MEASURES[key[0][1]])} measures" for key, n in part_of.items()}
    found = [f"{' '.join(key[0])} {key[1]} ({_from_to(n)}{few.get(key, '')})" for key, n in seeds.items()]
    return f"Run so far: {'; '.join(found) or 'nothing'}. A claim that needs more is not judged.\n"


def _from_to(seeds: Sequence[int]) -> str:
    least = f"{min(seeds)} to " if min(seeds) < max(seeds) else ""
    return f"{least}{counted(max(seeds))}"


def page(e: Evidence, figures: Mapping[str, str], vectors: Sequence[str] = (), sizes: str = "") -> str:
    parts = [
        INTRODUCTION,
        progress(e),
        "## Claims\n",
        RULES,
        claims(e),
        "## Without masks (Tables 1 and 3)\n",
        unmasked(e),
    ]
    parts += [sizes, ""] if sizes else []
    parts += [VECTORS, *vectors, ""] if vectors else []
    parts += [
        "## Areas of Recursive ROAR (Table 2)\n",
        areas(e),
        NOTE + at_fifths(e),
        few_seeds(e),
        "## Areas of ROAR\n",
        areas(e, "roar"),
    ]
    parts += ["## Masks that tell the label\n", TOLD, warned(e), PREDICTED, areas(e, "predicted")]
    parts += ["## Words instead of shares (Figure 7)\n", areas(e, "words")]
    parts += ["## The weighted variant of IG that was published\n", areas(e, "weighted")]
    parts += ["## Faithfulness without retraining\n", *side_by_side(e), "## Walltime (Table 7)\n", walltime(e)]
    parts += [
        "## Figures\n",
        *(f"### {_figure(title)}\n\n![{title}](roar/{name}.png)\n" for name, title in figures.items()),
    ]
    return "\n".join(parts)


def _figure(title: str) -> str:
    """The paper's figures have numbers."""
    return f"Figure {title}" if title[0].isdigit() else title


def claims(e: Evidence) -> str:
    rows = []
    for number, (title, judge) in CLAIMS.items():
        verdict, words = judge(e)
        criterion = " ".join((judge.__doc__ or "").split())
        said = INCOMPLETE if verdict == MISSING and words else verdict
        rows.append([number, f"{title}. *{criterion}*", f"**{said}**", words])
    return table(("", "claim and criterion", "verdict", "evidence"), rows)


def write(store: Path, output: Path) -> Path:
    kept, folder, target = Store(store.expanduser()), output / "roar", output / "roar.md"
    folder.mkdir(parents=True, exist_ok=True)
    records = folder / PACK
    if records.exists():
        unpack(records, kept)
    if not pack([planned(path, kept) for path in PLANS], kept, records)[0]:
        raise SystemExit(
            f"no record belongs to these plans; are the data and models that {PLANS[0].parent} names here?"
        )
    e = gather(kept)
    sizes = described(kept, {task.place: (task.plan, task.grid, task.data) for task in TASKS})
    drawn = draw(e, folder)
    for old in folder.glob("*.png"):
        if old.stem not in drawn:
            old.unlink()
    target.write_text(page(e, drawn, vector_lines(kept), sizes).rstrip() + "\n", encoding="utf-8")
    return target


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", type=Path, required=True, help="folder that `assay run --store` wrote")
    parser.add_argument("--output", type=Path, default=Path("docs/results"))
    given = parser.parse_args()
    print(f"wrote {write(given.store, given.output)}")


if __name__ == "__main__":
    main()
